"""Model workers under virtual time: they take a while to start, compute at one rate, and cost while they are there."""

import math
from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct

from manyhands.hosts.ray.pace import START_GUESS_S, Pace, WorkerLoad
from manyhands.hosts.ray.scaling import Desired, WorkersSeen

START_S = 60
RATE = 2.0  # items a second of one worker
LOOK_EVERY_S = 5


class Outcome(Struct, frozen=True):
    worker_hours: float
    wait_p95_s: float
    wait_max_s: float
    starts: int
    counts: list[int]  # of workers, in each second
    left: int  # items not done at the end


def simulate(arrivals: Sequence[int], wants: Callable[[WorkersSeen], Desired]) -> Outcome:
    """`arrivals` has the items that come in each second. The pace is measured, as a dispatcher does."""
    up, starting = 0, deque[int]()  # when each is there
    waiting: deque[int] = deque()
    waits: list[int] = []
    counts: list[int] = []
    starts = 0
    credit = 0.0
    pace = Pace()
    for at, coming in enumerate(arrivals):
        waiting.extend([at] * coming)
        while starting and starting[0] <= at:
            starting.popleft()
            up += 1
        if at % LOOK_EVERY_S == 0:
            oldest_s = float(at - waiting[0]) if waiting else 0.0
            items, done, workers = len(waiting), len(waits), up + len(starting)
            rate = pace.observe(WorkerLoad(float(at), up, items, done))
            start_s = START_S if starts else START_GUESS_S
            seen = WorkersSeen(float(at), workers, items, oldest_s, done + items, rate, start_s, pace.is_bound)
            wanted = wants(seen).workers
            while up + len(starting) < wanted:
                starting.append(at + START_S)
                starts += 1
            while up + len(starting) > wanted:
                if starting:
                    starting.pop()
                else:
                    up -= 1
        credit = min(credit + up * RATE, max(up * RATE, 1.0))
        while waiting and credit >= 1:
            waits.append(at - waiting.popleft())
            credit -= 1
        counts.append(up + len(starting))
    waits.sort()
    p95 = waits[math.ceil(0.95 * len(waits)) - 1] if waits else 0
    return Outcome(sum(counts) / 3600, float(p95), float(waits[-1] if waits else 0), starts, counts, len(waiting))
