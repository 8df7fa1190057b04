"""Runs probe tasks on one real host at one width after another, through the dispatcher that real runs use."""

import asyncio
import tempfile
from collections.abc import Sequence
from itertools import cycle
from typing import Protocol

import msgspec

from manyhands.apps.tune.choice import NextWidth, WidthChoice, choose, counted_at, next_width
from manyhands.apps.tune.width_figures import MeasuredWidth, Try, measured
from manyhands.assembly import open_session
from manyhands.core.events import AnyEvent, AttemptEnded, Input, RunDrained, WidthSet
from manyhands.core.placement import takes
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.provenance import Purpose
from manyhands.core.values.task import Task, form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.errors import ManyhandsError, Unavailable
from manyhands.sources.config.config_types import Config, HostConfig, StoreConfig

#: Every width runs each probe task equally often, so more probe tasks would make every step longer.
PROBES_MAX = 8
RETRY_AFTER_MAX_S = 60.0


class TuneObserver(Protocol):
    """Whoever asked for the measurement. It is told about each step and can stop it."""

    def begins(self, dispatcher: Dispatcher, run: str, width: int, attempts: int) -> Sequence[Input]:
        """A step begins. Returns events for the dispatcher."""

    def ends(self, step: MeasuredWidth) -> None: ...

    def is_stopping(self) -> bool: ...


class Tuned(msgspec.Struct, frozen=True):
    host: str
    choice: WidthChoice | None  # None: no width was measured completely
    steps: tuple[MeasuredWidth, ...]
    why: str  # why the search ended
    stopped: bool = False  # by a person


def probes_for(host: Host, tasks: Sequence[Task]) -> list[Task]:
    """The tasks that this host accepts, made to be repeated: without needs, with one attempt, with no route."""
    taken = [task for task in tasks if takes(host, task.kind, form_of(task), task.host)]
    return [
        msgspec.structs.replace(
            task, needs=(), parent="", priority=2, deferred=False, attempts=1, host=host.name, app="", reply_to=""
        )
        for task in taken[:PROBES_MAX]
    ]


async def tune(config: Config, host: HostConfig, probes: Sequence[Task], most: int, onlooker: TuneObserver) -> Tuned:
    """The best width of this host. A store of its own is used: the journal and memory of the project do not change."""
    if host.width.max is not None and host.width.min != host.width.max:
        most = min(most, host.width.max)
    with tempfile.TemporaryDirectory(prefix="manyhands-tune-", ignore_cleanup_errors=True) as directory:
        alone = msgspec.structs.replace(
            config,
            hosts=(msgspec.structs.replace(host, width=Width(1, 1, 1)),),
            rules=(),
            store=StoreConfig(dir=directory, durability="crash"),
        )
        async with open_session(alone) as dispatcher:
            return await _Ramp(dispatcher, host.name, probes, most, onlooker).climb()


class _Ramp:
    def __init__(
        self, dispatcher: Dispatcher, host: str, probes: Sequence[Task], most: int, onlooker: TuneObserver
    ) -> None:
        self._dispatcher = dispatcher
        self._host = host
        self._probes = probes
        self._most = most
        self._onlooker = onlooker
        self._rounds: dict[int, list[list[Try]]] = {}
        self._steps: dict[int, MeasuredWidth] = {}

    async def climb(self) -> Tuned:
        await self._warm_up()
        upcoming = NextWidth(None)
        while not self._onlooker.is_stopping():
            upcoming = next_width(self._steps, self._most)
            if upcoming.width is None:
                break
            await self._measure(upcoming.width)
        steps = tuple(self._steps[width] for width in sorted(self._steps))
        stopped = self._onlooker.is_stopping()
        why = "stopped before the end" if stopped else upcoming.why
        return Tuned(self._host, choose(self._steps), steps, why, stopped)

    async def _warm_up(self) -> None:
        """One attempt that does not count. It loads clients, starts workers, and shows that the task works."""
        tries = await self._run("warm-up", 1, 1)
        ending = tries[0].ending if tries else None
        if ending is None or ending.kind is EndingKind.DONE or self._onlooker.is_stopping():
            return
        _refuse(self._host, self._probes[0], ending)

    async def _measure(self, width: int) -> None:
        counted = counted_at(width, len(self._probes))
        attempts = (
            counted + 2 * width - 1
        )  # those that fill the width first, and keep it full until the last one that counts
        rounds = self._rounds.setdefault(width, [])
        rounds.append(await self._run(f"width-{width}-{len(rounds) + 1}", width, attempts))
        step = measured(width, counted, rounds)
        if step is None:
            return
        if self._onlooker.is_stopping() and step.attempts < attempts:
            return  # incomplete: it says nothing
        self._steps[width] = step
        self._onlooker.ends(step)
        if step.retry_after_s and not step.rate_limited:
            await self._wait(min(step.retry_after_s, RETRY_AFTER_MAX_S))

    async def _wait(self, seconds: float) -> None:
        until = self._dispatcher.clock.now() + seconds
        while self._dispatcher.clock.now() < until and not self._onlooker.is_stopping():  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    async def _run(self, run: str, width: int, attempts: int) -> list[Try]:
        """Runs this many attempts at this width, or until one is refused."""
        dispatcher, now = self._dispatcher, self._dispatcher.clock.now()
        tasks = [
            msgspec.structs.replace(probe, id=f"{probe.id}.{number}")
            for number, probe in zip(range(attempts), cycle(self._probes), strict=False)
        ]

        def stop_when_refused(batch: Sequence[AnyEvent]) -> None:
            for event in batch:
                if isinstance(event, AttemptEnded) and event.ending.kind is EndingKind.OVERLOADED:
                    dispatcher.tell(RunDrained(dispatcher.clock.now(), run))

        dispatcher.recorded.append(stop_when_refused)
        try:
            asked = self._onlooker.begins(dispatcher, run, width, attempts)
            await dispatcher.submit(
                WidthSet(now, self._host, width), *opening(run, now, tasks, purpose=Purpose.TUNE), *asked
            )
            await dispatcher.wait_settled(run)
        finally:
            dispatcher.recorded.remove(stop_when_refused)
        return self._tries(run)

    def _tries(self, run: str) -> list[Try]:
        return [
            Try(record.task.id.rpartition(".")[0], tried.started_at, tried.ended_at, tried.ending)
            for record in self._dispatcher.book.runs[run].records.values()
            for tried in record.history or ()
            if tried.ended_at is not None and tried.ending is not None
        ]


def _refuse(host: str, probe: Task, ending: Ending) -> None:
    what = f"probe task `{probe.id}` ended as {ending.kind} on host `{host}`: {ending.detail or 'no reason given'}"
    if ending.kind is EndingKind.OVERLOADED:
        raise Unavailable(what, "the host could not take even one attempt; try again later")
    raise ManyhandsError(
        what, "a task that fails by itself measures nothing; run it with `manyhands run` to see its output"
    )
