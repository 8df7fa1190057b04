"""A plan for the items of a window: the cheapest batches, ordered by turn."""

from collections.abc import Sequence
from operator import attrgetter

from msgspec import Struct

from manyhands.worker.packing.batch_limits import BatchLimits
from manyhands.worker.packing.splits import cheapest_cuts
from manyhands.worker.values.planner_values import Item

#: A position on the fair clock; the order of arrival breaks ties.
BatchTurn = tuple[float, int]


class Waiting(Struct, gc=False):
    item: Item
    length: int
    turn: BatchTurn
    is_queued: bool = True  # False once it is in a batch or removed
    memory_failures: int = 0
    failed_alone: bool = False  # it ran out of memory with nothing beside it, and no other process was to blame
    cancelled: bool = False  # it was cancelled while it was in a batch


class PlannedBatch(Struct, gc=False):
    waiting: list[Waiting]  # sorted by length
    turn: BatchTurn  # the earliest turn of its items
    length: int  # the length of its longest item
    count_max: int  # the limit when the batch was planned


length_of, turn_of = attrgetter("length"), attrgetter("turn")


class BatchPlan:
    def __init__(self, window: Sequence[Waiting] = (), limits: BatchLimits | None = None) -> None:
        self.batches: list[PlannedBatch] = []  # the next batch is the last element
        self.held: list[Waiting] = []  # items that do not fit into the memory, sorted by length
        self.count = self.count_at_first = 0  # items in batches, including those removed since
        if limits is not None:
            self._make(sorted(window, key=length_of), limits)

    def pop(self) -> list[Waiting]:
        """Remove the next batch and return its items that still wait."""
        batch = self.batches.pop()
        self.count -= len(batch.waiting)
        return [one for one in batch.waiting if one.is_queued]

    def left(self) -> list[Waiting]:
        """All items that still wait."""
        left = [one for batch in self.batches for one in batch.waiting if one.is_queued]
        return left + [one for one in self.held if one.is_queued]

    def _make(self, window: list[Waiting], limits: BatchLimits) -> None:
        counts = [limits.counts[one.length] for one in window]
        if 0 in counts:
            fitting = counts.index(0)
            self.held = window[fitting:]
            del window[fitting:], counts[fitting:]
        self.count = self.count_at_first = len(window)
        begin = 0
        for end in cheapest_cuts([limits.costs[one.length] for one in window], limits.seconds.k0, counts):
            batch = window[begin:end]
            turn = min([one.turn for one in batch])
            self.batches.append(PlannedBatch(batch, turn, batch[-1].length, counts[end - 1]))
            begin = end
        self.batches.sort(key=turn_of, reverse=True)
