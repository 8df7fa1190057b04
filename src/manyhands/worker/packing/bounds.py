"""Batches that ran out of memory against the prediction, and what must therefore not be tried again."""

from collections.abc import Iterable

from manyhands.worker.memory.learned_store import Bound

#: A bound holds for lengths from a little below its own; shorter items are another matter.
SAME_LENGTH = 0.8
#: With this many times the room there was, what failed may be tried again.
PLAINLY_MORE = 2.0
BOUNDS_MAX = 32


class MemoryBounds:
    """Of one model, by length."""

    def __init__(self, bounds: Iterable[Bound] = ()) -> None:
        self._bounds = list(bounds)
        self.revision = 0  # rises with every one that is remembered

    def remember(self, count: int, length: int, room_bytes: int) -> None:
        self._bounds.append(Bound(count, length, room_bytes))
        del self._bounds[:-BOUNDS_MAX]
        self.revision += 1

    def count_max(self, length: int, room_bytes: float) -> int | None:
        """Half of what failed, in padded tokens; at least one. None: nothing of that length ever failed."""
        if not self._bounds:
            return None
        tokens = min(
            (
                bound.count * bound.length
                for bound in self._bounds
                if length >= SAME_LENGTH * bound.length and room_bytes < PLAINLY_MORE * bound.room_bytes
            ),
            default=None,
        )
        return None if tokens is None else max(1, int(tokens / 2 / length))

    def all(self) -> tuple[Bound, ...]:
        return tuple(self._bounds)
