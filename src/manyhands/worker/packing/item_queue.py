"""The items that wait for one model, and which of them run together next.

The items whose turn is nearest form a window, which is cut into the cheapest batches. The batch with the item whose
turn it is runs first, so no item waits for a better fit. A plan is used until enough has changed to justify a new one.
"""

import heapq
from collections.abc import Sequence

from manyhands.worker.packing.batch_limits import BatchLimits
from manyhands.worker.packing.batch_plan import BatchPlan, BatchTurn, Waiting, turn_of
from manyhands.worker.packing.fairness import FairClock
from manyhands.worker.values.planner_values import Item

WINDOW = 1024
#: The share of each priority from 0 to 4. Each step doubles it.
SHARE_OF_PRIORITY = (4.0, 2.0, 1.0, 0.5, 0.25)
#: Plan again once new items have arrived that number this share of the planned ones.
NEW_SHARE = 0.5
#: If an unplanned item's turn comes before the next batch's, plan again once this share of the plan was used.
USED_SHARE = 0.25
#: Plan a full batch again once it could be this many times larger.
ROOMIER = 1.5


class ItemQueue:
    def __init__(self, window: int = WINDOW) -> None:
        self.waiting: dict[int, Waiting] = {}
        self.tokens = 0
        self.tokens_squared = 0
        self.count_of: dict[str, int] = {}  # app → items
        self._clock = FairClock()
        self._arrivals = 0
        self._window = window
        self._plan = BatchPlan()
        self._later: list[tuple[BatchTurn, Waiting]] = []  # a heap of the items that are not planned
        self._new = 0

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, items: Sequence[Item], weight: float) -> None:
        for item in items:
            share = weight * SHARE_OF_PRIORITY[item.priority]
            start = self._clock.place((item.app, item.priority), item.length, share)
            self._arrivals += 1
            self._enter(Waiting(item, item.length, (start, self._arrivals)))
        self._new += len(items)

    def put_back(self, waiting: Waiting) -> None:
        """Return an item to the queue. It keeps its turn."""
        waiting.is_queued = True
        self._enter(waiting)
        self._new = len(self.waiting)  # forces a new plan

    def remove(self, id: int) -> Waiting | None:
        waiting = self.waiting.get(id)
        if waiting is not None:
            self._leave((waiting,))
        return waiting

    @property
    def held(self) -> Waiting | None:
        """Among the items that did not fit into the last plan, the one whose turn comes first."""
        return min([one for one in self._plan.held if one.is_queued], key=turn_of, default=None)

    def take(self, limits: BatchLimits, past_held: bool = False) -> list[Waiting]:
        """The next batch, sorted by length. It is empty if nothing waits or the item whose turn it is does not fit.

        With `past_held`, other items may go before an item that does not fit.
        """
        replanned = False
        while True:
            if not replanned and self._is_stale(limits):
                self._plan = BatchPlan(self._nearest(), limits)
                replanned = True
            plan = self._plan
            if not plan.batches or (plan.held and not past_held and self._turn_is_held()):
                return []
            start, _ = plan.batches[-1].turn
            if taken := plan.pop():
                self._leave(taken)
                self._clock.advance(start)
                return taken

    def _enter(self, waiting: Waiting) -> None:
        length, app = waiting.length, waiting.item.app
        self.waiting[waiting.item.id] = waiting
        self.tokens += length
        self.tokens_squared += length * length
        self.count_of[app] = self.count_of.get(app, 0) + 1
        heapq.heappush(self._later, (waiting.turn, waiting))

    def _leave(self, some: Sequence[Waiting]) -> None:
        for one in some:
            length, app = one.length, one.item.app
            one.is_queued = False
            del self.waiting[one.item.id]
            self.tokens -= length
            self.tokens_squared -= length * length
            self.count_of[app] -= 1
            if not self.count_of[app]:
                del self.count_of[app]

    def _is_stale(self, limits: BatchLimits) -> bool:
        plan = self._plan
        if not plan.batches:
            return True
        if self._new and self._new >= NEW_SHARE * plan.count:
            return True
        batch = plan.batches[-1]
        overdue = bool(self._later) and self._later[0][0] < batch.turn
        if overdue and plan.count <= (1 - USED_SHARE) * plan.count_at_first:
            return True
        if plan.held and limits.counts[plan.held[0].length] > 0:
            return True
        fits_now, count = limits.counts[batch.length], len(batch.waiting)
        return fits_now < count or (count >= batch.count_max and fits_now >= ROOMIER * batch.count_max)

    def _turn_is_held(self) -> bool:
        held = self.held
        return held is not None and held.turn < self._plan.batches[-1].turn

    def _nearest(self) -> list[Waiting]:
        """The items of the last plan, and as many of the others as the window takes, in the order of their turns."""
        window, later = self._plan.left(), self._later
        if len(window) + len(later) <= self._window:
            later.sort()  # items of equal length stay in the order of their turns
            window += [one for _, one in later if one.is_queued]
            later.clear()
        while later and len(window) < self._window:
            _, one = heapq.heappop(later)
            if one.is_queued:
                window.append(one)
        self._new = 0
        return window
