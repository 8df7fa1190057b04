"""Virtual time, and what is planned to happen outside of any process."""

import heapq
from collections.abc import Callable

from manyhands.engine.sim.hosts.simulated_host import NEVER


class Stalled(AssertionError):
    """Somebody waits, and nothing will ever happen again."""


class Timeline:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._planned = 0

    def plan(self, at: float, happening: Callable[[], None]) -> None:
        """What is planned for the same moment happens in the order of planning."""
        self._planned += 1
        heapq.heappush(self._due, (max(at, self.now), self._planned, happening))

    def pass_time(self, until: float) -> None:
        """Advance to the next planned thing and do it, or only to `until` if that is sooner."""
        at = self._due[0][0] if self._due else NEVER
        if at <= until and at < NEVER:
            self.now = at
            heapq.heappop(self._due)[2]()
        elif until < NEVER:
            self.now = until
        else:
            raise Stalled(f"nothing will happen after {self.now:g} s, and the dispatcher waits")
