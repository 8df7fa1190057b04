"""Turns counters of servers into totals that never fall."""


class RisingTotal:
    """A total that only rises, from a counter that starts again at 0 with its server."""

    def __init__(self) -> None:
        self._before_restart = 0
        self._last = 0

    def told(self, count: int) -> int:
        if count < self._last:
            self._before_restart += self._last
        self._last = count
        return self._before_restart + count
