"""Counters of servers, told so that they never fall."""


class RisingTotal:
    """A counter that starts again at 0 with its server, told as one that only rises."""

    def __init__(self) -> None:
        self._before_restart = 0
        self._last = 0

    def told(self, count: int) -> int:
        if count < self._last:
            self._before_restart += self._last
        self._last = count
        return self._before_restart + count
