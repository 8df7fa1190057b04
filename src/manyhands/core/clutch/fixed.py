"""A width that a person pinned."""

from msgspec import Struct

from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample


class Fixed(Struct, tag="fixed"):
    width: int
    reason: str = "pinned"

    def start_at(self, at: float, kind: str, seen_bytes: int = 0) -> tuple[float, str]:
        return at, ""

    def started(self, at: float, attempt: int, kind: str, in_flight: int) -> None:
        pass

    def showed(self, at: float, attempt: int) -> None:
        pass

    def observe(self, sample: Sample) -> None:
        pass

    def read(self, reading: Reading) -> None:
        pass

    def tick(self, at: float) -> None:
        pass

    @property
    def is_launching(self) -> bool:
        return False

    def export(self) -> HostMemory | None:
        return None
