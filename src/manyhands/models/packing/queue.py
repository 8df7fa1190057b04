"""The items that wait for one model, and which of them run together next.

The items whose turn is nearest form a window; it is cut into the cheapest batches, and the batch with the item whose
turn it is goes first: nobody waits for a better fit. A plan is used up unless enough changed to make a new one worth
its time.
"""

import heapq
from operator import attrgetter

from msgspec import Struct

from manyhands.models.model import Item
from manyhands.models.packing.fairness import FairClock
from manyhands.models.packing.limits import BatchLimits
from manyhands.models.packing.splits import cheapest_cuts

WINDOW = 1024
#: A new plan once this share of what is planned has come in since, or was used up while someone's turn has come.
STALE_SHARE = 0.25
#: A full batch is planned again once it could be this much larger.
ROOMIER = 1.5


class Waiting(Struct, gc=False):
    item: Item
    turn: tuple[float, int]  # on the fair clock, then by arrival
    memory_failures: int = 0
    cancelled: bool = False  # while it was in a batch
    length: int = 0

    def __post_init__(self) -> None:
        self.length = self.item.length


class PlannedBatch(Struct, gc=False):
    waiting: list[Waiting]  # by length
    turn: tuple[float, int]  # of the one whose turn comes first
    count_max: int  # when it was planned


class ItemQueue:
    def __init__(self, window: int = WINDOW) -> None:
        self.waiting: dict[int, Waiting] = {}
        self.tokens = 0
        self.tokens_squared = 0
        self.count_of: dict[str, int] = {}  # app → items
        self._clock = FairClock()
        self._arrivals = 0
        self._window = window
        self._later: list[tuple[tuple[float, int], int]] = []  # a heap of what is not planned
        self._planned: list[PlannedBatch] = []  # the next one last
        self._held: list[Waiting] = []  # do not fit into the memory, by length
        self._planned_count = 0
        self._planned_at_first = 0
        self._new = 0

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, item: Item, weight: float) -> None:
        share = weight * 2.0 ** (2 - item.priority)
        start = self._clock.place((item.app, item.priority), item.length, share)
        self._arrivals += 1
        self._enter(Waiting(item, (start, self._arrivals)))

    def put_back(self, waiting: Waiting) -> None:
        """It keeps its turn."""
        self._enter(waiting)
        self._new = len(self.waiting)  # what was planned no longer holds

    def remove(self, id: int) -> Waiting | None:
        waiting = self.waiting.pop(id, None)
        if waiting is not None:
            self._count(waiting, -1)
        return waiting

    @property
    def held(self) -> Waiting | None:
        """Of the items that did not fit when last planned, the one whose turn comes first."""
        live = (one for one in self._held if self.waiting.get(one.item.id) is one)
        return min(live, key=attrgetter("turn"), default=None)

    def take(self, limits: BatchLimits, past_held: bool = False) -> list[Waiting]:
        """The next batch, by length; empty if nothing waits or the item whose turn it is does not fit.

        `past_held`: others may go before it.
        """
        replanned = False
        while True:
            if self._is_stale(limits) and not replanned:
                self._plan(limits)
                replanned = True
            if not self._planned or (not past_held and self._turn_is_held()):
                return []
            batch = self._planned.pop()
            self._planned_count -= len(batch.waiting)
            taken = [one for one in batch.waiting if self.waiting.get(one.item.id) is one]
            for one in taken:
                self.remove(one.item.id)
            if taken:
                self._clock.advance(batch.turn[0])
                return taken

    def _enter(self, waiting: Waiting) -> None:
        self.waiting[waiting.item.id] = waiting
        self._count(waiting, 1)
        heapq.heappush(self._later, (waiting.turn, waiting.item.id))
        self._new += 1

    def _count(self, waiting: Waiting, sign: int) -> None:
        length, app = waiting.length, waiting.item.app
        self.tokens += sign * length
        self.tokens_squared += sign * length * length
        self.count_of[app] = self.count_of.get(app, 0) + sign
        if not self.count_of[app]:
            del self.count_of[app]

    def _is_stale(self, limits: BatchLimits) -> bool:
        if not self._planned:
            return True
        if self._new and self._new >= STALE_SHARE * self._planned_count:
            return True
        # Someone came whose turn is before that of all that is planned.
        overdue = bool(self._later) and self._later[0][0] < self._planned[-1].turn
        if overdue and self._planned_count <= (1 - STALE_SHARE) * self._planned_at_first:
            return True
        if self._held and limits.count_max(self._held[0].length) > 0:
            return True
        batch = self._planned[-1]
        fits_now = limits.count_max(batch.waiting[-1].length)
        full = len(batch.waiting) >= batch.count_max
        return fits_now < len(batch.waiting) or (full and fits_now >= ROOMIER * batch.count_max)

    def _turn_is_held(self) -> bool:
        held = self.held if self._held else None
        return held is not None and held.turn < self._planned[-1].turn

    def _plan(self, limits: BatchLimits) -> None:
        window = [one for batch in self._planned for one in batch.waiting] + self._held
        window = [one for one in window if self.waiting.get(one.item.id) is one]
        while self._later and len(window) < self._window:
            turn, id = heapq.heappop(self._later)
            one = self.waiting.get(id)
            if one is not None and one.turn == turn:
                window.append(one)
        window.sort(key=attrgetter("length"))
        counts = [limits.count_max(one.length) for one in window]
        fitting = next((index for index, count in enumerate(counts) if count == 0), len(window))
        self._held = window[fitting:]
        cost_of = limits.seconds.of_item
        cuts = cheapest_cuts([cost_of(one.length) for one in window[:fitting]], limits.seconds.k0, counts[:fitting])
        begin, planned = 0, []
        for end in cuts:
            batch = window[begin:end]
            planned.append(PlannedBatch(batch, min(one.turn for one in batch), counts[end - 1]))
            begin = end
        planned.sort(key=attrgetter("turn"), reverse=True)
        self._planned, self._new = planned, 0
        self._planned_count = self._planned_at_first = fitting
