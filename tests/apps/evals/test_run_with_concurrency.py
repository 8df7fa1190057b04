"""The primitive: at most n in flight, results in input order, one at a time exactly as a plain loop."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable

import pytest

from manyhands import run_with_concurrency
from manyhands.errors import UsageError


class Counted:
    """Thunks that count how many are in flight, and end in an order of their own."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self.trace: list[str] = []

    def thunk(self, n: int, turns: int = 1, fails: bool = False) -> Callable[[], Awaitable[int]]:
        async def work() -> int:
            self.now += 1
            self.peak = max(self.peak, self.now)
            self.trace.append(f"start {n}")
            for _ in range(turns):
                await asyncio.sleep(0)
            self.now -= 1
            self.trace.append(f"end {n}")
            if fails:
                raise ValueError(n)
            return n

        return work


async def test_results_are_in_input_order_and_the_bound_is_reached_and_kept() -> None:
    counted = Counted()
    results = await run_with_concurrency([counted.thunk(n, turns=20 - n) for n in range(20)], 7)
    assert results == list(range(20))
    assert counted.peak == 7


async def test_one_at_a_time_is_the_plain_loop() -> None:
    thunks = 5
    serial, counted = Counted(), Counted()
    for n in range(thunks):
        await serial.thunk(n)()
    await run_with_concurrency([counted.thunk(n) for n in range(thunks)], 1)
    assert counted.trace == serial.trace


async def test_one_at_a_time_runs_in_the_callers_own_task() -> None:
    seen: contextvars.ContextVar[int] = contextvars.ContextVar("seen", default=0)

    async def work() -> asyncio.Task[object] | None:
        seen.set(seen.get() + 1)
        return asyncio.current_task()

    assert await run_with_concurrency([work, work], 1) == [asyncio.current_task()] * 2
    assert seen.get() == 2


async def test_an_error_takes_its_own_place_and_no_other() -> None:
    counted = Counted()
    results = await run_with_concurrency([counted.thunk(n, fails=n == 1) for n in range(4)], 2)
    assert [results[0], results[2], results[3]] == [0, 2, 3]
    assert isinstance(results[1], ValueError)


@pytest.mark.parametrize("n", [1, 3])
async def test_failing_fast_lets_what_is_in_flight_settle_and_keeps_what_finished(n: int) -> None:
    counted = Counted()
    thunks = [counted.thunk(0), counted.thunk(1, turns=2, fails=True), counted.thunk(2, turns=9), counted.thunk(3)]
    with pytest.raises(ValueError, match="1") as failed:
        await run_with_concurrency([*thunks, *(counted.thunk(k) for k in range(4, 50))], n, fail_fast=True)
    assert counted.now == 0
    begun = [int(line.split()[1]) for line in counted.trace if line.startswith("start")]
    assert begun == list(range(len(begun)))
    assert len(begun) < 50
    finished = failed.value.finished  # type: ignore[attr-defined]
    assert finished == {k: k for k in begun if k != 1}


async def test_cancelled_it_leaves_nothing_behind() -> None:
    ended: list[int] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    running = asyncio.create_task(run_with_concurrency([work] * 3, 2))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended == [1, 1]


async def test_none_at_a_time_is_refused() -> None:
    with pytest.raises(UsageError, match="got 0"):
        await run_with_concurrency([], 0)
