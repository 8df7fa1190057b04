"""How many items of a given length a batch may have now. Memory, earlier failures and time set the limit."""

from collections.abc import Callable
from typing import TypeVar

from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.packing.bounds import MemoryBounds
from manyhands.worker.values.planner_values import Growth, ModelSpec

Value = TypeVar("Value")


class ByLength(dict[int, Value]):
    """Values that are computed once for each length."""

    def __init__(self, work_out: Callable[[int], Value]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, length: int) -> Value:
        value = self[length] = self._work_out(length)
        return value


class BatchLimits:
    """The limits for one memory reading. Lengths that differ by less than 3 % share an answer."""

    def __init__(
        self, spec: ModelSpec, activation: ActivationMemory, bounds: MemoryBounds, seconds: Growth, room_bytes: int
    ) -> None:
        self.seconds = seconds
        self.room_bytes = room_bytes
        self.counts = ByLength(self._count_max)  # length → how many items; 0: not even one fits into the memory
        self.costs = ByLength(seconds.of_item)  # length → seconds of an item padded to it
        self._spec = spec
        self._activation = activation
        self._bounds = bounds

    def _count_max(self, length: int) -> int:
        rounded = round_up(length)
        if rounded != length:
            return self.counts[rounded]
        in_time = (self._spec.batch_seconds_max - self.seconds.k0) / max(self.costs[length], 1e-12)
        enough = min(self._spec.batch_items_max, max(1, int(in_time)))
        bound = self._bounds.count_max(length, self.room_bytes)
        if bound is not None:
            enough = min(enough, bound)
        return self._activation.count_max(length, self.room_bytes, enough)


def round_up(length: int) -> int:
    """Round up to five binary digits, so that there are few different lengths."""
    step = 1 << max(0, length.bit_length() - 6)
    return -(-length // step) * step


def round_down(room_bytes: int) -> int:
    """Round down to seven binary digits, on average by less than 1 %, so that similar readings share their limits."""
    step = 1 << max(0, room_bytes.bit_length() - 7)
    return room_bytes // step * step
