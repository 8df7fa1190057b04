"""Runs awaitables with at most n in flight, and finishes one even if its caller is cancelled."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from manyhands.errors import UsageError

T = TypeVar("T")


async def run_with_concurrency(
    thunks: Iterable[Callable[[], Awaitable[T]]], n: int, *, fail_fast: bool = False
) -> list[T | Exception]:
    """Call each thunk and await what it returns, at most `n` at a time. Returns the results in input order.

    An error takes the place of a result. With `fail_fast` the first error ends the run: nothing more starts, and what
    is in flight finishes. The error is then raised; `error.finished` is a dict from position to finished result.
    With n = 1 each is awaited in the caller's own task, as in a plain loop.
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
        finally:  # if we or a thunk are cancelled, nothing in flight may continue without us
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
    if errors and fail_fast:
        with contextlib.suppress(AttributeError):  # some errors accept no attributes
            errors[0].finished = {place: results[place] for place in sorted(results)}  # type: ignore[attr-defined]
        raise errors[0]
    return [results[place] for place in sorted(results)]


async def _work(
    waiting: Iterator[tuple[int, Callable[[], Awaitable[T]]]],
    results: dict[int, T | Exception],
    errors: list[Exception],
    fail_fast: bool,
) -> None:
    """Take one thunk after another, until none is left or, with `fail_fast`, until one has failed."""
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

    Use it for threads: a thread cannot be stopped, and what it writes must not be touched before it has ended.
    """
    was_cancelled = False
    while True:
        try:
            return await asyncio.shield(future), was_cancelled
        except asyncio.CancelledError:
            if future.cancelled():
                raise
            was_cancelled = True
