"""Which batches should have ended long ago. Told of beginnings and ends; asked with the time."""

from msgspec import Struct

#: A batch is stuck when it takes this many times as long as predicted, and never before so many seconds.
TIMES_PREDICTED = 30.0
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
        """What a person should know; "" when all is well."""
        batches = self.stuck(at)
        if not batches:
            return ""
        first = self._running[batches[0]]
        since_s = at - first.began_at
        return f"{len(batches)} batches are stuck: one of `{first.model}` has been computing for {since_s:.0f} s"
