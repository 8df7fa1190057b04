"""Finds batches that should have ended long ago. It is told when batches start and end, and has no clock."""

from msgspec import Struct

#: A batch is stuck if it takes this many times as long as predicted.
TIMES_PREDICTED = 30.0
#: No batch counts as stuck before this long.
STUCK_AFTER_S = 60.0


class _Running(Struct):
    model: str
    began_at: float
    stuck_at: float


class Watchdog:
    def __init__(self, stuck_after_s: float = STUCK_AFTER_S) -> None:
        self._stuck_after_s = stuck_after_s
        self._running: dict[int, _Running] = {}

    def began(self, batch: int, model: str, at: float, predicted_s: float) -> None:
        patience_s = max(self._stuck_after_s, TIMES_PREDICTED * predicted_s)
        self._running[batch] = _Running(model, at, at + patience_s)

    def ended(self, batch: int) -> None:
        self._running.pop(batch, None)

    def stuck(self, at: float) -> list[int]:
        return [batch for batch, running in self._running.items() if at >= running.stuck_at]

    def trouble(self, at: float) -> str:
        """A message about stuck batches, or "" if there are none."""
        batches = self.stuck(at)
        if not batches:
            return ""
        first = self._running[batches[0]]
        since_s = at - first.began_at
        return f"batches that do not end: {len(batches)}; one of `{first.model}` has been computing for {since_s:.0f} s"
