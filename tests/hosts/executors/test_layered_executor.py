"""A stop, a close and an error are heard in every phase of an attempt that goes through a layer.

The executor inside is scripted: it ends an attempt when the test says so, and keeps what it was told.
"""

import asyncio
from collections.abc import Callable

import pytest

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.hosts.executors.executor import Ended
from manyhands.hosts.executors.layered_executor import LayeredExecutor, RunInner

STOPPED_INSIDE = Ending(EndingKind.CANCELLED, "stopped inside", tokens_in=7)


class Scripted:
    """An executor that does what the test says; stopped, it ends the attempt in the next turn of the loop."""

    def __init__(self, ended: Ended) -> None:
        self.ended = ended
        self.told: list[tuple[str, int]] = []
        self.running: set[int] = set()
        self.ending_when_stopped = STOPPED_INSIDE

    def start(self, order: StartAttempt, directory: str) -> None:
        self.told.append(("start", order.attempt))
        self.running.add(order.attempt)

    def end(self, attempt: int, ending: Ending) -> None:
        self.running.remove(attempt)
        self.ended(attempt, ending)

    def release(self, attempt: int) -> None:
        self.told.append(("release", attempt))

    def stop(self, attempt: int) -> None:
        self.told.append(("stop", attempt))
        if attempt in self.running:
            self.running.remove(attempt)
            asyncio.get_running_loop().call_soon(self.ended, attempt, self.ending_when_stopped)

    def adopt(self, attempt: int, directory: str) -> bool:
        self.running.add(attempt)
        return True

    async def close(self) -> None:
        self.told.append(("close", 0))


class Gated:
    """Waits for one gate before the attempt and for another after it."""

    def __init__(self) -> None:
        self.before, self.after = asyncio.Event(), asyncio.Event()
        self.phase = ""
        self.cleaned = False
        self.runs = 1

    def takes(self, order: StartAttempt) -> bool:
        return order.task.id != "straight"

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        try:
            self.phase = "before"
            await self.before.wait()
            for _ in range(self.runs):
                self.phase = "inside"
                ending = await run(order)
            self.phase = "after"
            await self.after.wait()
            return ending
        finally:
            self.cleaned = True


class Layered:
    def __init__(self) -> None:
        self.reported: list[tuple[int, Ending]] = []
        self.layer = Gated()
        self.inner: Scripted
        self.executor = LayeredExecutor(self._make, lambda *told: self.reported.append(told), self.layer)

    def _make(self, ended: Ended) -> Scripted:
        self.inner = Scripted(ended)
        return self.inner

    def start(self, task: str = "t") -> None:
        self.executor.start(StartAttempt(1, "r", Task(task, run=("true",)), 1, "h"), "directory")

    async def reach(self, phase: str) -> None:
        self.start()
        if phase in ("inside", "after"):
            self.layer.before.set()
        if phase == "after":
            await turns(lambda: self.inner.running)
            self.inner.end(1, DONE)
        await turns(lambda: self.layer.phase == phase)

    async def ending(self) -> Ending:
        await turns(lambda: self.reported)
        await turns(lambda: True)
        assert len(self.reported) == 1, self.reported
        return self.reported[0][1]


async def turns(until: Callable[[], object]) -> None:
    """Everything here happens within a few turns of the loop: no clock is needed."""
    for _ in range(50):
        await asyncio.sleep(0)
        if until():
            return
    pytest.fail("the loop came to rest without it")


async def test_an_attempt_goes_through_before_inside_and_after() -> None:
    layered = Layered()
    await layered.reach("after")
    assert layered.reported == []
    layered.layer.after.set()
    assert await layered.ending() is DONE


async def test_an_attempt_the_layer_does_not_take_goes_straight_through() -> None:
    layered = Layered()
    layered.start("straight")
    layered.executor.release(1)
    layered.executor.stop(1)
    assert layered.inner.told == [("start", 1), ("release", 1), ("stop", 1)]
    assert await layered.ending() is STOPPED_INSIDE


@pytest.mark.parametrize("phase", ["before", "inside", "after"])
async def test_a_stop_is_heard_in_every_phase(phase: str) -> None:
    layered = Layered()
    await layered.reach(phase)
    layered.executor.stop(1)
    layered.layer.after.set()
    assert (await layered.ending()).kind is EndingKind.CANCELLED
    assert layered.layer.cleaned
    assert (("stop", 1) in layered.inner.told) == (phase == "inside")


@pytest.mark.parametrize("turns_before", range(8))
async def test_a_stop_is_heard_in_every_turn_of_the_loop(turns_before: int) -> None:
    """Also between two phases: with open gates an attempt goes through all of them within these turns."""
    layered = Layered()
    layered.layer.before.set()
    layered.start()
    for _ in range(turns_before):
        await asyncio.sleep(0)
    layered.executor.stop(1)
    layered.layer.after.set()
    assert (await layered.ending()).kind is EndingKind.CANCELLED
    assert not layered.inner.running


@pytest.mark.parametrize("phase", ["before", "inside", "after"])
async def test_closing_stops_what_is_in_any_phase_and_then_closes_the_inner_one(phase: str) -> None:
    layered = Layered()
    await layered.reach(phase)
    if phase == "inside":
        layered.layer.after.set()
    await asyncio.wait_for(layered.executor.close(), 30)
    assert [ending.kind for _, ending in layered.reported] == [EndingKind.CANCELLED]
    assert layered.inner.told[-1] == ("close", 0)


async def test_a_stop_between_the_ending_inside_and_what_follows_is_heard() -> None:
    layered = Layered()
    await layered.reach("inside")
    layered.inner.end(1, DONE)
    layered.executor.stop(1)
    layered.layer.after.set()
    assert (await layered.ending()).kind is EndingKind.CANCELLED
    assert layered.inner.told == [("start", 1)]


async def test_the_ending_of_a_stopped_attempt_keeps_what_it_used() -> None:
    layered = Layered()
    await layered.reach("inside")
    layered.executor.stop(1)
    layered.layer.after.set()
    assert (await layered.ending()).tokens_in == 7


async def test_an_attempt_that_finishes_while_it_is_being_stopped_is_cancelled() -> None:
    layered = Layered()
    layered.layer.after.set()
    await layered.reach("inside")
    layered.inner.ending_when_stopped = DONE
    layered.executor.stop(1)
    assert (await layered.ending()).kind is EndingKind.CANCELLED


async def test_a_second_stop_reaches_the_inner_executor_which_then_grants_no_grace() -> None:
    layered = Layered()
    await layered.reach("inside")
    layered.executor.stop(1)
    layered.executor.stop(1)
    assert layered.inner.told == [("start", 1), ("stop", 1), ("stop", 1)]


async def test_nothing_more_runs_inside_once_the_attempt_is_stopped() -> None:
    layered = Layered()
    layered.layer.runs = 3
    layered.layer.after.set()
    await layered.reach("inside")
    layered.executor.stop(1)
    assert (await layered.ending()).kind is EndingKind.CANCELLED
    assert layered.inner.told.count(("start", 1)) == 1


async def test_an_error_in_the_layer_is_an_ending() -> None:
    class Broken(Gated):
        async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
            raise RuntimeError("no room for it")

    layered = Layered()
    layered.executor = LayeredExecutor(layered._make, lambda *told: layered.reported.append(told), Broken())
    layered.start()
    ending = await layered.ending()
    assert ending.kind is EndingKind.FAILED
    assert "no room for it" in ending.detail


async def test_an_adopted_attempt_is_the_inner_ones_alone() -> None:
    layered = Layered()
    assert layered.executor.adopt(1, "directory")
    layered.executor.stop(1)
    assert await layered.ending() is STOPPED_INSIDE
