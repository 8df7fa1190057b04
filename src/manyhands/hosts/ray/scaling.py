"""How many model workers there should be, from the waiting work, their speed and their cost.

It is a function of its inputs: it owns no clock and starts nothing.
"""

import math
from collections import deque

from msgspec import Struct

from manyhands.quantities import quantity


class Scaling(Struct, frozen=True, kw_only=True):
    min: int = 0  # 0: no workers while there is nothing to do
    max: int = 8
    drain_s: float = 300.0  # waiting work should be done within this time
    idle_s: float = 600.0  # back to `min` after this long without work
    settle_s: float = 120.0  # fewer only after fewer were enough for this long: a new worker starts slowly
    cost_per_hour: float = 0.0  # of one worker
    budget_per_hour: float | None = None


class WorkersSeen(Struct, frozen=True):
    at: float
    workers: int  # running or starting
    items: int  # items that wait or are being computed
    oldest_s: float  # how long the first of them has waited
    arrived: int  # items that have arrived, in total
    worker_rate: float | None  # items a second that one worker does; None: not known yet
    start_s: float  # how long a worker takes to start and load its models
    rate_is_bound: bool = False  # the rate is only an upper bound
    in_flight_max: float = math.inf  # the host's width: more workers would have nothing to do


class Desired(Struct, frozen=True):
    workers: int
    why: str


class Scaler:
    def __init__(self, policy: Scaling) -> None:
        self._policy = policy
        self._busy_at: float | None = None
        #: (when, how many workers would have been enough, items that had arrived by then), for the last `settle_s`
        self._lately: deque[tuple[float, int, int]] = deque()

    def observe(self, seen: WorkersSeen) -> Desired:
        policy = self._policy
        if self._busy_at is None or seen.items:
            self._busy_at = seen.at
        enough, why = _enough(policy, seen, self._come_per_s(seen))
        if enough > seen.in_flight_max:
            enough, why = int(seen.in_flight_max), f"the width of the host is {seen.in_flight_max:g}"
        self._lately.append((seen.at, enough, seen.arrived))
        while self._lately[0][0] < seen.at - policy.settle_s:
            self._lately.popleft()
        most, most_why = _most(policy)
        least = min(policy.min, most)
        count, why = self._moved(seen, enough, why)
        if count > most:
            return Desired(most, f"{most_why}; {why}")
        return Desired(count, why) if count >= least else Desired(least, f"at least {least}")

    def _moved(self, seen: WorkersSeen, enough: int, why: str) -> tuple[int, str]:
        """More workers at once; fewer only when fewer have been enough for a while."""
        if enough >= seen.workers:
            return enough, why
        if seen.items:
            return min(seen.workers, max(count for _, count, _ in self._lately)), why
        assert self._busy_at is not None
        idle_s = seen.at - self._busy_at
        if idle_s < self._policy.idle_s:
            return seen.workers, f"idle for {idle_s:.0f} of {self._policy.idle_s:g} s"
        return 0, f"nothing to do for {idle_s:.0f} s"

    def _come_per_s(self, seen: WorkersSeen) -> float:
        """How fast items arrive. It is unknown until they have arrived for half of the observed time."""
        if not self._lately or seen.at - self._lately[0][0] < self._policy.settle_s / 2:
            return 0.0
        at, _, arrived = self._lately[0]
        return (seen.arrived - arrived) / (seen.at - at)


def _enough(policy: Scaling, seen: WorkersSeen, come_per_s: float) -> tuple[int, str]:
    """The fewest workers that finish the work in time. Workers that are starting count from when they are ready."""
    if not seen.items:
        return 0, "nothing to do"
    if not seen.worker_rate:
        return max(1, seen.workers), "the speed of a worker is not known yet"
    # At least a quarter: if no time is left, any number of workers is too late.
    left_s = max(policy.drain_s - seen.oldest_s, policy.drain_s / 4)
    draining = math.ceil(seen.items / (seen.worker_rate * left_s))
    missing = seen.items - seen.workers * seen.worker_rate * left_s
    if missing > 0:  # workers that are starting have less time
        then_s = max(left_s - seen.start_s, policy.drain_s / 4)
        draining = seen.workers + math.ceil(missing / (seen.worker_rate * then_s))
    # This keeps workers but starts none: until work falls behind, the pace may be only temporary.
    keeping_up = min(math.ceil(come_per_s / seen.worker_rate), seen.workers)
    does = f"a worker does {seen.worker_rate:.3g}"
    if seen.rate_is_bound:  # an upper bound justifies more workers, never fewer
        draining, does = max(draining, seen.workers), f"a worker does at most {seen.worker_rate:.3g}"
    count = min(max(1, draining, keeping_up), seen.items)
    if keeping_up > draining:
        return count, f"{come_per_s:.3g} items a second arrive, {does}"
    return count, f"{quantity(seen.items, 'item')}, {left_s:.3g} s left, {does} a second"


def _most(policy: Scaling) -> tuple[int, str]:
    if policy.budget_per_hour is not None and policy.cost_per_hour > 0:
        affordable = int(policy.budget_per_hour / policy.cost_per_hour)
        if affordable < policy.max:
            return (
                affordable,
                f"{policy.budget_per_hour:g} an hour pays for {affordable} at {policy.cost_per_hour:g} each",
            )
    return policy.max, f"at most {policy.max}"
