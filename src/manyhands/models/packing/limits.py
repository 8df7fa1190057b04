"""How many items of a length one batch may have, now: by memory, by what failed before, by time."""

from manyhands.models.memory.activation import ActivationMemory
from manyhands.models.model import Growth, ModelSpec
from manyhands.models.packing.bounds import MemoryBounds


class BatchLimits:
    """As of one reading of the memory; lengths that differ by less than 3 % share an answer."""

    def __init__(
        self, spec: ModelSpec, activation: ActivationMemory, bounds: MemoryBounds, seconds: Growth, room_bytes: int
    ) -> None:
        self.seconds = seconds
        self.room_bytes = room_bytes
        self._spec = spec
        self._activation = activation
        self._bounds = bounds
        self._known: dict[int, int] = {}  # rounded length → how many

    def count_max(self, length: int) -> int:
        """0: not even one fits into the memory."""
        rounded = round_up(length)
        known = self._known.get(rounded)
        if known is None:
            known = self._known[rounded] = self._count_max(rounded)
        return known

    def _count_max(self, length: int) -> int:
        in_time = (self._spec.batch_seconds_max - self.seconds.k0) / max(self.seconds.of_item(length), 1e-12)
        enough = min(self._spec.batch_items_max, max(1, int(in_time)))
        bound = self._bounds.count_max(length, self.room_bytes)
        if bound is not None:
            enough = min(enough, bound)
        return self._activation.count_max(length, self.room_bytes, enough)


def round_up(length: int) -> int:
    """To five binary digits: few enough different ones, and never below."""
    step = 1 << max(0, length.bit_length() - 6)
    return -(-length // step) * step
