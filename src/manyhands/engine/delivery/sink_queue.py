"""The letters for one sink, and which of them may go now.

Letters with the same order go one after another, and while the sink is down only one goes at a time. The queue owns no
clock and sends nothing. A waiting letter costs a place in a heap, however long the sink is away.
"""

import heapq
from collections import deque

from manyhands.core.outbox import Delivery

#: How many letters may be on their way to one sink at once.
AT_ONCE_MAX = 16
WAIT_FIRST_S = 0.2
WAIT_LONGEST_S = 60.0


class SinkQueue:
    def __init__(self) -> None:
        self._due: list[tuple[float, int, Delivery]] = []  # the first of each order: not before, number
        self._orders: set[str] = set()  # those with a first one, due or on its way
        self._behind: dict[str, deque[Delivery]] = {}
        self._tries: dict[int, int] = {}  # only of those that were refused
        self._refused = 0  # in a row
        self._rests_until = 0.0
        self.in_flight = 0

    def add(self, delivery: Delivery) -> None:
        if delivery.order in self._orders:
            self._behind.setdefault(delivery.order, deque()).append(delivery)
        else:
            self._orders.add(delivery.order)
            heapq.heappush(self._due, (0.0, delivery.number, delivery))

    def take(self, now: float) -> Delivery | None:
        """The next that may go; it is on its way until it is settled or refused."""
        at = self.next_at()
        if at is None or at > now:
            return None
        self.in_flight += 1
        return heapq.heappop(self._due)[2]

    def next_at(self) -> float | None:
        """When the next may go; None if that depends on one that is on its way, or there is none."""
        if not self._due or self.in_flight >= (1 if self._is_down else AT_ONCE_MAX):
            return None
        return max(self._due[0][0], self._rests_until)

    @property
    def _is_down(self) -> bool:
        """More letters were refused in a row than can be on their way at once, so it is not about single letters."""
        return self._refused > AT_ONCE_MAX

    def settled(self, delivery: Delivery, answered: bool) -> None:
        """It was taken or given up; `answered`: the sink had something to say on it, so it is not down."""
        self.in_flight -= 1
        self._tries.pop(delivery.number, None)
        if answered:
            self._refused, self._rests_until = 0, 0.0
        behind = self._behind.get(delivery.order)
        if not behind:
            self._orders.discard(delivery.order)
            return
        following = behind.popleft()
        if not behind:
            del self._behind[delivery.order]
        heapq.heappush(self._due, (0.0, following.number, following))

    def refused(self, delivery: Delivery) -> int:
        """How often it has been by now. `again` or `settled` must follow."""
        self._refused += 1
        self._tries[delivery.number] = self._tries.get(delivery.number, 0) + 1
        return self._tries[delivery.number]

    def again(self, delivery: Delivery, now: float, wait_least_s: float) -> None:
        self.in_flight -= 1
        wait_s = max(_wait_s(self._tries[delivery.number]), wait_least_s)
        heapq.heappush(self._due, (now + wait_s, delivery.number, delivery))
        if self._is_down:
            self._rests_until = now + max(_wait_s(self._refused - AT_ONCE_MAX), wait_least_s)


def _wait_s(nth: int) -> float:
    return min(WAIT_LONGEST_S, WAIT_FIRST_S * 2.0 ** min(nth - 1, 16))
