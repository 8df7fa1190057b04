"""The live picture of a run on a terminal: a lane per host and kind, and a line of totals."""

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.table import Table
from rich.text import Text

from manyhands.core.events import AnyEvent
from manyhands.core.state import HostState, Run, Running
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.cli.printing import duration
from manyhands.surfaces.cli.progress import totals
from manyhands.surfaces.cli.time_left import expected_s

REFRESHES_PER_S = 8
#: Drawing may take at most this share of the dispatcher's time. The slower it is, the less often it happens.
DRAWING_SHARE = 0.02
#: A picture older than this is no longer live.
STALE_S = 1.0
#: The rate is measured over this long.
RATE_WINDOW_S = 20.0
#: In a wider bar nobody can count the slots.
BAR_SLOTS_MAX = 24
NAMED_IN_FLIGHT_MAX = 6


class LiveView:
    """Draws only counts that the core already has, so that a million tasks cost no more than ten."""

    def __init__(self, dispatcher: Dispatcher, run: str) -> None:
        self._dispatcher = dispatcher
        self._run = run
        self._finished: deque[tuple[float, int]] = deque()  # (when, finished by then)
        self._live = RichLive(Text("opening …"), console=Console(stderr=True), auto_refresh=False)
        self._live.start(refresh=True)
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh())

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        pass

    async def _refresh(self) -> None:
        while True:
            began = time.thread_time()  # CPU time: other processes must not slow the drawing down
            self._live.update(self._picture(), refresh=True)
            drawing_s = time.thread_time() - began
            await asyncio.sleep(min(STALE_S, max(1 / REFRESHES_PER_S, drawing_s / DRAWING_SHARE)))

    def stop(self) -> None:
        """Leave the final lanes on the screen. The totals follow in the report."""
        self._dispatcher.recorded.remove(self.recorded)
        self._refreshing.cancel()
        self._live.update(self._lanes(self._dispatcher.clock.now(), running=False), refresh=True)
        self._live.stop()
        self._live.console.print()

    def _picture(self) -> Group | Text:
        now = self._dispatcher.clock.now()
        run = self._dispatcher.book.runs.get(self._run)
        if run is None or not run.records:
            return Text("opening …")
        return Group(self._lanes(now, running=True), Text(self._summary(run, now)))

    def _lanes(self, now: float, running: bool) -> Table:
        table = Table(box=None, pad_edge=False)
        for column in ("HOST", "KIND", "WIDTH", "USUAL", *(("RATE", "IN FLIGHT") if running else ())):
            right = column in ("USUAL", "RATE")
            table.add_column(column, no_wrap=True, overflow="ellipsis", justify="right" if right else "left")
        for host in self._dispatcher.book.hosts.values():
            in_flight = _by_kind(host.running.values())
            for kind in sorted(host.lanes):
                lane = host.lanes[kind]
                if not lane.peak:
                    continue  # nothing has run in it
                usual = "" if lane.usual_s is None else duration(lane.usual_s)
                row = [host.name, kind or "–", _bar(host, kind) if running else f"{_width(host, kind)}", usual]
                if running:
                    row += [pace(lane.in_flight / lane.usual_s) if lane.usual_s else "–"]
                    row += [_named(in_flight.get(kind, []), lane.in_flight, now)]
                table.add_row(*row)
        return table

    def _summary(self, run: Run, now: float) -> str:
        parts = [f"{run.name}  {duration(now - run.bounded_at)}", totals(run)]
        rate = self._rate(run, now)
        if rate:
            parts.append(pace(rate))
        left_s = expected_s(run, self._dispatcher.book.hosts.values(), now)
        if run.draining:
            parts.append("stopping")
        elif left_s is not None:
            parts.append(f"about {duration(left_s)} left")
        return " · ".join(parts)

    def _rate(self, run: Run, now: float) -> float:
        finished = len(run.records) - run.unfinished
        self._finished.append((now, finished))
        while self._finished[0][0] < now - RATE_WINDOW_S:
            self._finished.popleft()
        since, before = self._finished[0]
        return (finished - before) / (now - since) if now > since else 0.0


def pace(per_s: float) -> str:
    """1,234/s, 8.7/s, 3.2/min or 1.5/h: the unit in which the number is easy to picture."""
    for unit, size in (("s", 1), ("min", 60), ("h", 3600)):
        if per_s * size >= 1 or unit == "h":
            break
    return f"{per_s * size:,.{0 if per_s * size >= 10 else 1}f}/{unit}"


def _by_kind(running: Iterable[Running]) -> dict[str, list[Running]]:
    """The oldest few of each kind; no more are shown."""
    found: dict[str, list[Running]] = {}
    for one in running:
        same = found.setdefault(one.record.task.kind, [])
        if len(same) < NAMED_IN_FLIGHT_MAX:
            same.append(one)
    return found


def _width(host: HostState, kind: str) -> int:
    lane = host.lanes[kind]
    return host.width if lane.width is None else min(host.width, lane.width)


def _bar(host: HostState, kind: str) -> str:
    """Filled slots are used by this lane, shaded ones by other lanes of the host, and empty ones are free."""
    width = _width(host, kind)
    mine = host.lanes[kind].in_flight
    others = min(len(host.running) - mine, max(0, width - mine))
    free = max(0, width - mine - others)
    bar = f"{'█' * mine}{'▒' * others}{'░' * free} " if max(width, mine) <= BAR_SLOTS_MAX else ""
    paused = "  paused" if host.paused is not None else ""
    return f"{bar}{mine} of {width}{paused}"


def _named(shown: list[Running], all_of_them: int, now: float) -> str:
    names = [f"{one.record.task.id} {duration(now - one.started_at)}" for one in shown]
    more = [f"+{all_of_them - len(shown)}"] if all_of_them > len(shown) else []
    return "  ".join(names + more)
