"""Inspect AI's rule: double per clean round until the first refusal, then 5 % per round; 0.8 per episode.

For comparison. Inspect reads 429s only; here every overload counts as one, which favours it.
"""

from msgspec import Struct

from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

CUT = 0.8
COOLDOWN_S = 15.0
ROUND_MIN = 4


class InspectRule(Struct, tag="inspect"):
    width: int = 4
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"
    successes: int = 0
    refused_once: bool = False
    cooled_at: float = -1e9

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        return at, ""

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        pass

    def showed(self, at: float, attempt: int) -> None:
        pass

    def observe(self, sample: Sample) -> None:
        match load_sign(sample.ending):
            case LoadSign.TOO_MUCH:
                self.successes = 0
                self.refused_once = True
                if sample.at >= self.cooled_at:
                    self.width = max(self.width_min, _rounded_down(int(self.width * CUT)))
                    self.cooled_at = sample.at + max(COOLDOWN_S, sample.retry_after_s or 0.0)
                    self.reason = f"cut to {CUT:.0%} after a refusal"
            case LoadSign.FINE if sample.at >= self.cooled_at:
                self.successes += 1
                if self.successes >= max(self.width, ROUND_MIN):
                    self.successes = 0
                    self._grow()

    def _grow(self) -> None:
        if self.refused_once:
            wider = _rounded_up(self.width + max(1, round(self.width * 0.05)))
            self.reason = "5 % more after a clean round"
        else:
            wider = self.width * 2
            self.reason = "doubled after a clean round"
        self.width = min(wider, self.width_max)

    def read(self, reading: Reading) -> None:
        pass

    def tick(self, at: float) -> None:
        pass

    @property
    def is_launching(self) -> bool:
        return False

    def export(self) -> HostMemory | None:
        return None


def _rounded_up(width: int) -> int:
    return width if width < 10 else (width + 4) // 5 * 5


def _rounded_down(width: int) -> int:
    return max(1, width) if width < 10 else width // 5 * 5
