"""What one task costs in the core alone, without disk, loop or executor, and what a waiting one takes of memory."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from record import record

QUESTION = "scheduler_throughput"
COUNTS = (1_000, 100_000, 1_000_000)
WIDTH = 100
# In a process of its own, so that memory is counted from nothing and no other run's garbage is collected.
_CHILD = """
import gc, resource, sys, time
from manyhands.core import events as ev
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Task
from manyhands.core.scheduler import Scheduler

def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()

def measure(count, width):
    scheduler = Scheduler()
    scheduler.handle([ev.HostsConfigured(0.0, (Host("p", width=Width(width, width, width)),)), ev.RunOpened(0.0, "r")])
    before = resident()
    began = time.process_time()
    made_s = 0.0
    for first in range(0, count, 1000):
        making = time.process_time()
        tasks = tuple(Task(f"t{n}", kind="python", call="m:f") for n in range(first, min(count, first + 1000)))
        made_s += time.process_time() - making
        commands = scheduler.handle([ev.TasksSubmitted(0.0, "r", tasks)]).commands
        if first == 0:
            starts = [command for command in commands if isinstance(command, StartAttempt)]
    waiting_bytes = (resident() - before) / count
    at = 0.0
    while starts:
        at += 1.0
        commands = scheduler.handle([ev.AttemptEnded(at, start.attempt, DONE) for start in starts]).commands
        starts = [command for command in commands if isinstance(command, StartAttempt)]
    took_s = time.process_time() - began - made_s
    assert scheduler.book.runs["r"].ended_at is not None
    return took_s / count * 1e6, waiting_bytes

count = int(sys.argv[1])
gc.freeze()
runs = [measure(count, int(sys.argv[2])) for _ in range(max(1, 20_000 // count))]
print(min(us for us, _ in runs), max(taken for _, taken in runs))
"""


def main() -> None:
    cost_us: dict[int, float] = {}
    for count in COUNTS:
        argv = [sys.executable, "-c", _CHILD, str(count), str(WIDTH)]
        told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
        cost_us[count], waiting_bytes = map(float, told)
        print(f"{count:>9,} tasks  {cost_us[count]:6.1f} µs each  {waiting_bytes:6.0f} bytes each while waiting")
        record(QUESTION, {"tasks": count, "width": WIDTH}, cost_us[count], "us/task")
        if count >= 100_000:
            record(QUESTION, {"tasks": count}, waiting_bytes, "bytes/waiting task")
    growth = cost_us[COUNTS[-1]] / cost_us[COUNTS[0]]
    print(f"1,000,000 against 1,000 tasks: {growth:.2f} × the cost of one")
    record(QUESTION, {"ratio": "1,000,000 / 1,000 tasks"}, growth, "ratio")


if __name__ == "__main__":
    main()
