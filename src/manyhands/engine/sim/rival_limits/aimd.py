"""Netflix's AIMD limit: one more per success at the limit, nine tenths per overload. For comparison."""

from msgspec import Struct

from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample
from manyhands.engine.sim.rival_limits.load_sign import LoadSign, load_sign

BACK_OFF = 0.9


class Aimd(Struct, tag="aimd"):
    width: int = 4
    width_min: int = 1
    width_max: int = 256
    reason: str = "the start"

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        return at, ""

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        pass

    def showed(self, at: float, attempt: int) -> None:
        pass

    def observe(self, sample: Sample) -> None:
        match load_sign(sample.ending):
            case LoadSign.TOO_MUCH:
                self.width = max(self.width_min, int(self.width * BACK_OFF))
                self.reason = f"cut to {BACK_OFF:.0%} after an overload"
            case LoadSign.FINE if sample.in_flight * 2 >= self.width:
                self.width = min(self.width_max, self.width + 1)
                self.reason = "one more after a success"

    def read(self, reading: Reading) -> None:
        pass

    def tick(self, at: float) -> None:
        pass

    @property
    def is_launching(self) -> bool:
        return False

    def export(self) -> HostMemory | None:
        return None
