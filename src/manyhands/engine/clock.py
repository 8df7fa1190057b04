"""Time for the journal: it starts from the wall clock and never goes backwards, even if the wall clock does."""

import logging
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)
#: A clock that was set back by less is normal, and nobody needs to be told.
AHEAD_S = 60.0


class Clock:
    def __init__(
        self,
        not_before: float = 0.0,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        now = wall()
        if not_before - now > AHEAD_S:
            _log.warning(
                "the journal is %.0f s ahead of this machine's clock, which was wrong then or is wrong now; "
                "until the clock has caught up, times in the journal are that much too late",
                not_before - now,
            )
        self._start = max(now, not_before)
        self._steady_start = steady()

    def now(self) -> float:
        return self._start + (self._steady() - self._steady_start)
