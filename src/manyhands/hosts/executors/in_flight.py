"""The attempts of one executor as tasks of its loop: each reports one ending, and stopping is cancelling."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.executor import Ended
from manyhands.hosts.executors.function import describe_error

STOPPED = Ending(EndingKind.CANCELLED, "stopped")
CLOSED = Ending(EndingKind.CANCELLED, "not started: the executor is closed")

# The work of an attempt, which returns its ending. If it is cancelled, it ends what it began and returns or raises.
AttemptWork = Coroutine[Any, Any, Ending]


class InFlight:
    def __init__(self, ended: Ended, grace_s: float) -> None:
        self._ended = ended
        self._grace_s = grace_s
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._stopping: set[int] = set()
        self._closed = False

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._tasks

    def start(self, attempt: int, work: AttemptWork) -> None:
        if self._closed:
            work.close()
            self._loop.call_soon(self._ended, attempt, CLOSED)
            return
        self._tasks[attempt] = self._loop.create_task(self._carry(attempt, work))

    def stop(self, attempt: int) -> None:
        if attempt in self._tasks and attempt not in self._stopping:
            self._stopping.add(attempt)
            # Not immediately: a task that is cancelled before its first step never reports an ending.
            self._loop.call_soon(self._insist, attempt)

    async def close(self) -> None:
        self._closed = True
        for attempt in list(self._tasks):
            self.stop(attempt)
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    def _insist(self, attempt: int) -> None:
        """Cancel the attempt, and repeat it after each grace period: some code swallows a cancellation."""
        task = self._tasks.get(attempt)
        if task is not None:
            task.cancel()
            self._loop.call_later(self._grace_s, self._insist, attempt)

    async def _carry(self, attempt: int, work: AttemptWork) -> None:
        try:
            ending = await work
        except GeneratorExit:  # the loop was discarded, so nobody is left to report to
            raise
        except BaseException as error:
            ending = self._ending_of(attempt, error)
        self._stopping.discard(attempt)
        del self._tasks[attempt]
        self._ended(attempt, ending)

    def _ending_of(self, attempt: int, error: BaseException) -> Ending:
        if isinstance(error, asyncio.CancelledError) and attempt in self._stopping:
            return STOPPED
        return describe_error(error).ending()
