"""Asks the policies of ray hosts how many model workers they should have, and sees to it that they get them.

What a policy is told comes from the book and from the workers themselves; what it says is an event, with its reason.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, assert_never

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted, WorkersMoved
from manyhands.core.ready import Pool
from manyhands.core.state import HostState
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import ManyhandsError

if TYPE_CHECKING:
    from manyhands.hosts.ray.ray_executor import RayExecutor
    from manyhands.hosts.ray.scaling import Scaling

_log = logging.getLogger(__name__)

#: A worker takes far longer to come, and the first item of an idle host should not wait for the policy.
LOOK_EVERY_S = 1.0


class WorkerScaling:
    """Of all hosts that have a policy; does nothing where none has."""

    def __init__(self, dispatcher: Dispatcher, scaled: Mapping[str, "tuple[Scaling, RayExecutor]"]) -> None:
        self._dispatcher = dispatcher
        self._hosts = [_Scaled(name, *of, dispatcher) for name, of in scaled.items()]
        self._task: asyncio.Task[None] | None = None
        if self._hosts:
            dispatcher.recorded.append(self._recorded)
            self._task = asyncio.create_task(self._look())
            self._task.add_done_callback(_tell_if_broken)

    async def close(self) -> None:
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.wait({self._task})
        self._dispatcher.recorded.remove(self._recorded)
        over = [event for host in self._hosts if (event := host.over()) is not None]
        if over and self._dispatcher.is_alive:
            with suppress(ManyhandsError):  # the store is gone: whoever comes next looks what is there
                await self._dispatcher.submit(*over)

    async def _look(self) -> None:
        while True:
            for host in self._hosts:
                host.look()
            await asyncio.sleep(LOOK_EVERY_S)

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        for host in self._hosts:
            host.recorded(batch)


def _tell_if_broken(task: asyncio.Task[None]) -> None:
    """Prompts would wait for workers that nobody asks for any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("the number of model workers is no longer adjusted, because of this error", exc_info=error)


class _Scaled:
    def __init__(self, name: str, policy: "Scaling", executor: "RayExecutor", dispatcher: Dispatcher) -> None:
        from manyhands.hosts.ray.pace import Pace
        from manyhands.hosts.ray.scaling import Scaler

        self._name = name
        self._executor = executor
        self._dispatcher = dispatcher
        self._scaler = Scaler(policy)
        self._pace = Pace()
        state = dispatcher.book.hosts[name]
        self._in_flight = {n for n, one in state.running.items() if form_of(one.record.task) == "prompt"}
        self._done = 0
        #: What a dispatcher that died had asked for is there still.
        self._wanted = state.workers or 0
        self._trouble = ""
        if self._wanted:
            executor.keep_workers(self._wanted)

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if isinstance(event, AttemptStarted) and event.host == self._name:
                running = self._dispatcher.book.running.get(event.attempt)
                if running is not None and form_of(running.record.task) == "prompt":
                    self._in_flight.add(event.attempt)
            elif isinstance(event, AttemptEnded) and event.attempt in self._in_flight:
                self._in_flight.discard(event.attempt)
                self._done += _is_computed(event.ending.kind)
            elif isinstance(event, WorkersMoved) and event.host == self._name:
                self._executor.keep_workers(event.workers)  # now that it is on disk

    def look(self) -> None:
        from manyhands.hosts.ray.pace import START_GUESS_S, WorkerLoad
        from manyhands.hosts.ray.scaling import WorkersSeen

        host = self._dispatcher.book.hosts.get(self._name)
        if host is None:
            return
        now, there = self._dispatcher.clock.now(), self._executor.workers
        waiting, since = waiting_for(self._dispatcher.book, host)
        items = waiting + len(self._in_flight)
        rate = self._pace.observe(WorkerLoad(now, there.up, items, self._done))
        start_s = START_GUESS_S if there.took_s is None else there.took_s
        oldest_s = 0.0 if since is None else max(0.0, now - since)
        is_bound = self._pace.is_bound
        seen = WorkersSeen(now, self._wanted, items, oldest_s, self._done + items, rate, start_s, is_bound, host.width)
        desired = self._scaler.observe(seen)
        if desired.workers != self._wanted or there.trouble != self._trouble:
            why = f"{desired.why}; {there.trouble}" if there.trouble else desired.why
            self._dispatcher.tell(WorkersMoved(now, self._name, desired.workers, self._wanted, why))
            self._wanted, self._trouble = desired.workers, there.trouble

    def over(self) -> WorkersMoved | None:
        """A clean stop takes the workers along."""
        if not self._wanted:
            return None
        return WorkersMoved(self._dispatcher.clock.now(), self._name, 0, self._wanted, "the dispatcher stops")


def _is_computed(kind: EndingKind) -> bool:
    """Does an ending of this kind say how fast a worker is?"""
    match kind:
        case EndingKind.DONE | EndingKind.FAILED:
            return True
        case EndingKind.OVERLOADED | EndingKind.TIMED_OUT:
            return False  # the worker did not answer
        case EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            return False
        case _:
            assert_never(kind)


def waiting_for(book: Book, host: HostState) -> tuple[int, float | None]:
    """The prompts that this host may take next, and since when the first of all its prompts has waited.

    Those that another host may take as well count whole: nobody knows yet who will.
    """
    since = [
        one.tried.queued_at or one.started_at for one in host.running.values() if form_of(one.record.task) == "prompt"
    ]
    count = 0
    # A host that a person paused gets nothing. A pause with an end is the host's own, and ends soon.
    if host.paused is None or host.paused_until is not None:
        for (_, key), group in book.ready.groups.items():
            if key.form == "prompt" and group.queue and host in group.pool.hosts and _may_start(group.pool):
                count += len(group.queue)
                since.append(group.head.since)
    return count, min(since, default=None)


def _may_start(pool: Pool) -> bool:
    return pool.held_by is None and not pool.run.draining
