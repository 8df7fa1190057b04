"""Netflix's AIMD limit: one more after a success at the limit, nine tenths after an overload. For comparison."""

from manyhands.core.values.widths import PlainLimit, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

BACK_OFF = 0.9


class Aimd(PlainLimit, tag="aimd"):
    width: int = 4
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"

    def observe(self, sample: Sample) -> None:
        match load_sign(sample.ending):
            case LoadSign.TOO_MUCH:
                self.width = max(self.width_min, int(self.width * BACK_OFF))
                self.reason = f"cut to {BACK_OFF:.0%} after an overload"
            case LoadSign.FINE if sample.in_flight * 2 >= self.width:
                self.width = min(self.width_max, self.width + 1)
                self.reason = "one more after a success"
