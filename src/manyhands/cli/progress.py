"""Watching a run: a live picture on a terminal, plain lines elsewhere. All of it goes to stderr."""

import asyncio
import sys
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from manyhands.cli.output import counted, duration, say
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted
from manyhands.core.model import TERMINAL
from manyhands.core.state import HostState, Record, Run
from manyhands.runtime.dispatcher import Dispatcher

if TYPE_CHECKING:
    from rich.console import RenderableType

#: More tasks than anyone reads line by line: from here on a line every few seconds says how far it is.
LINES_TASKS_MAX = 1000
LINE_EVERY_S = 5.0
REFRESHES_PER_S = 8
#: The rate and the expected end look back over this long.
RATE_WINDOW_S = 20.0


class Watcher(Protocol):
    def recorded(self, batch: Sequence[AnyEvent]) -> None: ...

    def stop(self) -> None: ...


def watch(dispatcher: Dispatcher, run: str) -> Watcher:
    watcher = Live(dispatcher, run) if sys.stderr.isatty() else Lines(dispatcher, run)
    dispatcher.recorded.append(watcher.recorded)
    return watcher


class Lines:
    """A line for every attempt that ends; for large runs, a line every few seconds."""

    def __init__(self, dispatcher: Dispatcher, run: str) -> None:
        self._dispatcher = dispatcher
        self._run = run
        self._said_at = dispatcher.clock.now()
        self._record_of: dict[int, Record] = {}

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        run = self._dispatcher.book.runs.get(self._run)
        if run is None:
            return
        if len(run.records) > LINES_TASKS_MAX:
            now = self._dispatcher.clock.now()
            if now - self._said_at >= LINE_EVERY_S:
                self._said_at = now
                say(f"{duration(now - run.opened_at):>8}  {_totals(run)}")
            return
        for event in batch:
            if isinstance(event, AttemptStarted) and event.run == self._run:
                self._record_of[event.attempt] = run.records[event.task]
            elif isinstance(event, AttemptEnded) and event.attempt in self._record_of:
                self._say_ended(run, self._record_of.pop(event.attempt), event.attempt)

    def _say_ended(self, run: Run, record: Record, attempt: int) -> None:
        for number, tried in enumerate(record.history or (), 1):
            if tried.attempt == attempt and tried.ending is not None and tried.ended_at is not None:
                took = duration(tried.ended_at - tried.started_at)
                detail = f"  {tried.ending.detail}" if tried.ending.detail else ""
                name = f"{record.task.id}#{number}@{tried.host}"
                say(f"{duration(tried.ended_at - run.opened_at):>8}  {tried.ending.kind:<10} {name}  {took}{detail}")

    def stop(self) -> None:
        pass


class Live:
    """A lane per host and kind: its width, what is in flight, how fast it goes and when it will be done."""

    def __init__(self, dispatcher: Dispatcher, run: str) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._dispatcher = dispatcher
        self._run = run
        self._finished: deque[tuple[float, int]] = deque()  # (when, finished by then)
        self._live = RichLive(console=Console(stderr=True), auto_refresh=False, transient=True)
        self._live.start()
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh())

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        pass

    async def _refresh(self) -> None:
        while True:
            self._live.update(self._picture(), refresh=True)
            await asyncio.sleep(1 / REFRESHES_PER_S)

    def stop(self) -> None:
        self._refreshing.cancel()
        self._live.stop()

    def _picture(self) -> "RenderableType":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        book, now = self._dispatcher.book, self._dispatcher.clock.now()
        run = book.runs.get(self._run)
        if run is None:
            return Text("opening …")
        table = Table(box=None, pad_edge=False)
        for column in ("HOST", "KIND", "WIDTH", "IN FLIGHT"):
            table.add_column(column, no_wrap=column != "IN FLIGHT", overflow="ellipsis")
        for host in book.hosts.values():
            for kind in sorted(host.lanes):
                table.add_row(host.name, kind, _bar(host, kind), _in_flight(host, kind, now))
        rate = self._rate(run, now)
        left = f"{rate:.1f}/s" if rate else "–"
        if rate and run.unfinished:
            left += f" · {duration(run.unfinished / rate)} left"
        return Group(table, Text(f"{run.name}  {duration(now - run.opened_at)} · {_totals(run)} · {left}"))

    def _rate(self, run: Run, now: float) -> float:
        finished = len(run.records) - run.unfinished
        self._finished.append((now, finished))
        while self._finished[0][0] < now - RATE_WINDOW_S:
            self._finished.popleft()
        since, before = self._finished[0]
        return (finished - before) / (now - since) if now > since else 0.0


def _bar(host: HostState, kind: str) -> str:
    """Filled: this lane. Shaded: other lanes of the host. Empty: free."""
    mine = host.lane(kind).in_flight
    others = len(host.running) - mine
    free = max(0, host.width - mine - others)
    if host.width <= 24:
        return f"{'█' * mine}{'▒' * others}{'░' * free} {mine} of {host.width}"
    return f"{mine} of {host.width}"


def _in_flight(host: HostState, kind: str, now: float) -> str:
    mine = [one for one in host.running.values() if one.record.task.kind == kind]
    shown = [f"{one.record.task.id} {duration(now - one.started_at)}" for one in mine[:6]]
    more = f" +{len(mine) - 6}" if len(mine) > 6 else ""
    return "  ".join(shown) + more


def _totals(run: Run) -> str:
    finished = sum(run.counts[state] for state in TERMINAL)
    return f"{finished} of {len(run.records)} · {counted({str(k): n for k, n in run.counts.items()})}"
