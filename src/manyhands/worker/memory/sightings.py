"""Measured batches, reduced to one for each cell of a grid over size and length."""

import math
from collections.abc import Callable, Iterable

from manyhands.worker.memory.fitting import SeenBatch

CELLS_MAX = 64


class Sightings:
    """`merge` combines the batch that a cell holds with a new one."""

    def __init__(self, merge: Callable[[SeenBatch, SeenBatch], SeenBatch], seen: Iterable[SeenBatch] = ()) -> None:
        self._merge = merge
        self._cells: dict[tuple[int, int], SeenBatch] = {}  # the least recently updated first
        for one in seen:
            self.add(one)

    def add(self, seen: SeenBatch) -> bool:
        """Add a batch and return whether that changed anything."""
        cell = (round(4 * math.log2(seen.count * seen.length)), round(2 * math.log2(seen.length)))
        before = self._cells.pop(cell, None)
        after = self._cells[cell] = seen if before is None else self._merge(before, seen)
        if len(self._cells) > CELLS_MAX:
            del self._cells[next(iter(self._cells))]
        return after != before

    def __len__(self) -> int:
        return len(self._cells)

    def all(self) -> list[SeenBatch]:
        return list(self._cells.values())


def dearer(before: SeenBatch, now: SeenBatch) -> SeenBatch:
    """The batch that took more per padded token."""
    return now if now.value * before.count * before.length >= before.value * now.count * now.length else before


def blended(before: SeenBatch, now: SeenBatch) -> SeenBatch:
    """The mean per padded token. The newest batch counts most, but a single odd one does not decide."""
    per_token = (before.value / (before.count * before.length) + now.value / (now.count * now.length)) / 2
    return SeenBatch(now.count, now.length, per_token * now.count * now.length)
