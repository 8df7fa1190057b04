"""How many model workers there should be, from what waits, how fast they are, and what they cost.

A function of what it is told: it owns no clock and starts nothing.
"""

import math
from collections import deque

from msgspec import Struct


class Scaling(Struct, frozen=True, kw_only=True):
    min: int = 0  # 0: none at all while there is nothing to do
    max: int = 8
    drain_s: float = 300.0  # what waits should be done within this
    idle_s: float = 600.0  # without work for so long: back to `min`
    settle_s: float = (
        120.0  # fewer only after fewer were enough for so long: a worker that is gone takes long to come back
    )
    cost_per_hour: float = 0.0  # of one worker
    budget_per_hour: float | None = None


class WorkersSeen(Struct, frozen=True):
    at: float
    workers: int  # there, or on their way
    items: int  # that wait or are being computed
    oldest_s: float  # how long the first of them has waited
    arrived: int  # items that ever came
    worker_rate: float | None  # items a second that one worker does; None: not known yet
    start_s: float  # what a worker takes to be there with its models
    rate_is_bound: bool = False  # it may be as slow as it likes, but not faster
    in_flight_max: float = math.inf  # what the host's width allows: more workers than that have nothing to do


class Desired(Struct, frozen=True):
    workers: int
    why: str


class Scaler:
    def __init__(self, policy: Scaling) -> None:
        self._policy = policy
        self._busy_at: float | None = None
        #: (when, how many would have been enough, how many items had come by then), of the last `settle_s`
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
        """More at once; fewer only when that has been enough for a while."""
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
        """At what pace items come; not known before they have come for half of the time looked at."""
        if not self._lately or seen.at - self._lately[0][0] < self._policy.settle_s / 2:
            return 0.0
        at, _, arrived = self._lately[0]
        return (seen.arrived - arrived) / (seen.at - at)


def _enough(policy: Scaling, seen: WorkersSeen, come_per_s: float) -> tuple[int, str]:
    """The fewest that do what there is in time, those that are yet to start counted from when they are there."""
    if not seen.items:
        return 0, "nothing to do"
    if not seen.worker_rate:
        return max(1, seen.workers), "how fast a worker is is not known yet"
    # At a quarter at the worst: where there is no time left, any number of workers is too late.
    left_s = max(policy.drain_s - seen.oldest_s, policy.drain_s / 4)
    draining = math.ceil(seen.items / (seen.worker_rate * left_s))
    missing = seen.items - seen.workers * seen.worker_rate * left_s
    if missing > 0:  # those that are yet to start have less time
        then_s = max(left_s - seen.start_s, policy.drain_s / 4)
        draining = seen.workers + math.ceil(missing / (seen.worker_rate * then_s))
    # Keeps workers, and brings none: until the work falls behind nobody knows that the pace is not a passing one.
    keeping_up = min(math.ceil(come_per_s / seen.worker_rate), seen.workers)
    does = f"a worker does {seen.worker_rate:.3g}"
    if seen.rate_is_bound:  # a reason for more of them, and never for fewer
        draining, does = max(draining, seen.workers), f"a worker does at most {seen.worker_rate:.3g}"
    count = min(max(1, draining, keeping_up), seen.items)
    if keeping_up > draining:
        return count, f"{come_per_s:.3g} items a second come, {does}"
    items = "1 item" if seen.items == 1 else f"{seen.items:,} items"
    return count, f"{items}, {left_s:.3g} s left, {does} a second"


def _most(policy: Scaling) -> tuple[int, str]:
    if policy.budget_per_hour is not None and policy.cost_per_hour > 0:
        affordable = int(policy.budget_per_hour / policy.cost_per_hour)
        if affordable < policy.max:
            return (
                affordable,
                f"{policy.budget_per_hour:g} an hour pays for {affordable} at {policy.cost_per_hour:g} each",
            )
    return policy.max, f"at most {policy.max}"
