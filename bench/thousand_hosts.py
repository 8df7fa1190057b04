"""Where does a single leader saturate? The core alone with 1,000 hosts, 100,000 attempts in flight and many tasks.

`--tasks 10000000` is the whole question (some minutes and 10 GB); the default is a tenth of it.
"""

import argparse
import gc
import heapq
import random
import resource
import time

from record import record

from manyhands.core import events as ev
from manyhands.core.commands import StartAttempt
from manyhands.core.model import DONE, Host, Task, Width
from manyhands.core.scheduler import Scheduler

HOSTS = 1_000
WIDTH = 100
SUBMIT = 10_000
#: Endings that a dispatcher finds in its inbox when it comes back from writing the batch before.
BATCH = 200


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1_000_000)
    count = parser.parse_args().tasks
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    draw = random.Random(1)
    scheduler = Scheduler()
    hosts = tuple(Host(f"h{n}", width=Width(WIDTH, WIDTH, WIDTH)) for n in range(HOSTS))
    scheduler.handle([ev.HostsConfigured(0.0, hosts), ev.RunOpened(0.0, "r")])
    ending: list[tuple[float, int]] = []  # virtual time, attempt

    def take(commands: list[object], at: float) -> None:
        for command in commands:
            if isinstance(command, StartAttempt):
                heapq.heappush(ending, (at + draw.expovariate(1 / 300.0), command.attempt))

    began = time.process_time()
    for first in range(0, count, SUBMIT):
        tasks = tuple(Task(f"t{n}", kind="k", call="m:f") for n in range(first, min(count, first + SUBMIT)))
        take(scheduler.handle([ev.TasksSubmitted(0.0, "r", tasks)]).commands, 0.0)
    submitted_s = time.process_time() - began
    peak = len(scheduler.book.running)
    began = time.process_time()
    while ending:
        batch = [heapq.heappop(ending) for _ in range(min(BATCH, len(ending)))]
        step = scheduler.handle([ev.AttemptEnded(at, attempt, DONE) for at, attempt in batch])
        take(step.commands, batch[-1][0])
    worked_s = time.process_time() - began
    assert scheduler.book.runs["r"].ended_at is not None
    bytes_max = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    per_s = count / (submitted_s + worked_s)
    print(f"{HOSTS:,} hosts, {peak:,} in flight, {count:,} tasks: {per_s:,.0f} tasks/s of one core")
    costs = f"submit {submitted_s / count * 1e6:.1f} µs, work off {worked_s / count * 1e6:.1f} µs a task"
    print(f"{costs}; {bytes_max / 1e9:.1f} GB")
    params = {"hosts": HOSTS, "in_flight": peak, "tasks": count}
    record("thousand_hosts", params, per_s, "tasks per CPU second, core alone")
    record("thousand_hosts", params | {"what": "memory"}, bytes_max / count, "bytes a task")


if __name__ == "__main__":
    main()
