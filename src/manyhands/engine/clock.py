"""Time for the journal: it starts from the wall clock and never goes backwards, even if the wall clock does."""

import time
from collections.abc import Callable


class Clock:
    def __init__(
        self,
        not_before: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        self._start = max(wall(), not_before)
        self._steady_start = steady()

    def now(self) -> float:
        return self._start + (self._steady() - self._steady_start)
