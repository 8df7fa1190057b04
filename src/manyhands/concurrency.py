"""Run awaitables with at most n in flight, and finish one although its caller is cancelled."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from manyhands.errors import UsageError

T = TypeVar("T")


async def run_with_concurrency(
    thunks: Iterable[Callable[[], Awaitable[T]]], n: int, *, fail_fast: bool = False
) -> list[T | Exception]:
    """Call each thunk and await what it returns, at most `n` at a time; their results in input order.

    An error takes the place of a result. With `fail_fast` the first one ends it: nothing more is started, what is in
    flight settles, and it is raised with what finished attached as `error.finished`, a dict from place to result.
    With n = 1 each is awaited in the caller's own task, as a plain loop would.
    """
    if n < 1:
        raise UsageError(f"`n` must be at least 1, got {n}", "1 runs them one after the other")
    all_thunks = list(thunks)
    waiting = enumerate(all_thunks)
    results: dict[int, T | Exception] = {}
    errors: list[Exception] = []
    if n == 1:
        await _work(waiting, results, errors, fail_fast)
    else:
        working = (_work(waiting, results, errors, fail_fast) for _ in range(min(n, len(all_thunks))))
        workers = [asyncio.create_task(work) for work in working]
        try:
            await asyncio.gather(*workers)
        finally:  # cancelled, or a thunk was: what is in flight must not live on without us
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
    if errors and fail_fast:
        with contextlib.suppress(AttributeError):  # an error that takes no attributes is raised without
            errors[0].finished = {place: results[place] for place in sorted(results)}  # type: ignore[attr-defined]
        raise errors[0]
    return [results[place] for place in sorted(results)]


async def _work(
    waiting: Iterator[tuple[int, Callable[[], Awaitable[T]]]],
    results: dict[int, T | Exception],
    errors: list[Exception],
    fail_fast: bool,
) -> None:
    """Take one after the other, until none is left or, with `fail_fast`, until one has failed."""
    while not (errors and fail_fast):
        place, thunk = next(waiting, (-1, None))
        if thunk is None:
            return
        try:
            results[place] = await thunk()
        except Exception as error:
            errors.append(error)
            if not fail_fast:
                results[place] = error


async def finish_despite_cancel(future: asyncio.Future[T]) -> tuple[T, bool]:
    """The future's result, and whether the caller was cancelled while it waited.

    For threads: a thread cannot be stopped, and whatever it writes must not be touched before it has ended.
    """
    was_cancelled = False
    while True:
        try:
            return await asyncio.shield(future), was_cancelled
        except asyncio.CancelledError:
            if future.cancelled():
                raise
            was_cancelled = True
