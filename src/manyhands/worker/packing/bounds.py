"""Batches that ran out of memory although they should have fit, and the limits that follow from them."""

from collections.abc import Iterable

from manyhands.worker.memory.learned_store import Bound

#: A bound applies to items of at least this share of its own length. It says nothing about shorter items.
SAME_LENGTH = 0.8
#: A batch that failed may be tried again when there is this many times the room.
PLAINLY_MORE = 2.0
BOUNDS_MAX = 32


class MemoryBounds:
    """The bounds of one model."""

    def __init__(self, bounds: Iterable[Bound] = ()) -> None:
        self._bounds = list(bounds)
        self.revision = 0  # rises with every new bound

    def remember(self, count: int, length: int, room_bytes: int) -> None:
        self._bounds.append(Bound(count, length, room_bytes))
        del self._bounds[:-BOUNDS_MAX]
        self.revision += 1

    def count_max(self, length: int, room_bytes: float) -> int | None:
        """How many items may run: half the padded tokens of what failed, at least one item.

        None means that no batch of such a length failed.
        """
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
