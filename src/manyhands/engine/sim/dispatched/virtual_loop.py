"""An event loop whose time is a timeline's. When nothing is ready, time jumps to what comes next.

Work that the code under test gives to threads is done in this thread, at a moment that the simulation chooses. So a
run has one order of events, and the same seed gives the same order.
"""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

from manyhands.engine.sim.dispatched.timeline import Timeline

#: (until the work is done, from then until the loop hears of it), in seconds.
ThreadTimes = Callable[[], tuple[float, float]]


def no_time() -> tuple[float, float]:
    return 0.0, 0.0


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, timeline: Timeline, thread_times: ThreadTimes = no_time) -> None:
        self._timeline = timeline
        self._thread_times = thread_times
        self._thread_free_at: dict[Any, float] = {}
        super().__init__(_TimelineSelector(lambda: self._timeline))

    def time(self) -> float:
        return self._timeline.now

    def cut_off(self) -> None:
        """The process of this loop is dead. From now on its time passes apart from the world's."""
        self._timeline = Timeline(self._timeline.now)
        self._thread_times = no_time

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """One job at a time for a given executor, as in the single thread that writes the journal."""
        done_after_s, heard_after_s = self._thread_times()
        future: asyncio.Future[Any] = self.create_future()
        if not done_after_s and not heard_after_s:
            _work(future, func, args, lambda tell: tell())
            return future
        done_at = max(self.time(), self._thread_free_at.get(executor, 0.0)) + done_after_s
        heard_at = done_at + heard_after_s
        if executor is not None:
            self._thread_free_at[executor] = heard_at
        self.call_at(done_at, _work, future, func, args, lambda tell: self.call_at(heard_at, tell))
        return future


def _work(
    future: asyncio.Future[Any],
    func: Callable[..., Any],
    args: tuple[Any, ...],
    when_heard: Callable[[Callable[[], None]], object],
) -> None:
    """Do the work now, and report it later to whoever waits for it."""
    settle: Callable[[Any], None] = future.set_result
    try:
        value = func(*args)
    except Exception as error:
        settle, value = future.set_exception, error
    when_heard(lambda: None if future.done() else settle(value))


class _TimelineSelector(selectors.DefaultSelector):
    def __init__(self, timeline: Callable[[], Timeline]) -> None:
        super().__init__()
        self._timeline_now = timeline

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and (timeout is None or timeout > 0):
            timeline = self._timeline_now()
            timeline.pass_time(float("inf") if timeout is None else timeline.now + timeout)
        return ready
