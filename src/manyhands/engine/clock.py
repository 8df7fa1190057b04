"""Time for the journal: the wall clock's, but never backwards, whatever is done to the wall clock."""

import time


class Clock:
    def __init__(self, not_before: float = 0.0) -> None:
        self._start = max(time.time(), not_before)
        self._monotonic_start = time.monotonic()

    def now(self) -> float:
        return self._start + (time.monotonic() - self._monotonic_start)
