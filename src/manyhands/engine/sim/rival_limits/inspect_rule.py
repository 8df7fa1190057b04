"""Inspect AI's rule: it doubles after each clean round until the first refusal, then grows by 5 %.

A refusal cuts the width to 0.8 of it, once per episode. For comparison. Inspect counts only 429s; here every overload
counts as one, which favours it.
"""

from manyhands.core.values.widths import PlainLimit, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

CUT = 0.8
COOLDOWN_S = 15.0
ROUND_MIN = 4


class InspectRule(PlainLimit, tag="inspect"):
    width: int = 4
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"
    successes: int = 0
    refused_once: bool = False
    cooled_at: float = -1e9

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


def _rounded_up(width: int) -> int:
    return width if width < 10 else (width + 4) // 5 * 5


def _rounded_down(width: int) -> int:
    return max(1, width) if width < 10 else width // 5 * 5
