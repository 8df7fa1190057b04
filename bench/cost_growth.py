"""Does a task cost more when there are a million of them, and how much memory does a waiting one take?

The goals: between 1,000 and 1,000,000 tasks the cost of one grows by at most 1.5 ×; at most 1.5 kB each.
"""

import subprocess
import sys
from pathlib import Path

from record import record

QUESTION = "cost_growth"
COUNTS = (1_000, 10_000, 100_000, 1_000_000)
# In a process of its own, so that memory is counted from nothing. A thousand tasks are over too soon to time once.
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); from noop import measure; n = int(sys.argv[2]);"
    "runs = [measure(n, 'crash') for _ in range(max(1, 20000 // n))];"
    "print(max(r.tasks_per_s for r in runs), max(r.waiting_bytes for r in runs))"
)


def main() -> None:
    cost_us: dict[int, float] = {}
    for count in COUNTS:
        argv = [sys.executable, "-c", _CHILD, str(Path(__file__).parent), str(count)]
        said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        rate, waiting_bytes = map(float, said.split())
        cost_us[count] = 1e6 / rate
        print(f"{count:>9,} tasks  {cost_us[count]:6.1f} µs each  {waiting_bytes:6.0f} bytes each while waiting")
        record(QUESTION, {"tasks": count}, cost_us[count], "us/task")
        if count >= 100_000:
            record(QUESTION, {"tasks": count}, waiting_bytes, "bytes/waiting task")
    growth = cost_us[COUNTS[-1]] / cost_us[COUNTS[0]]
    print(f"1,000,000 against 1,000 tasks: {growth:.2f} × the cost of one (goal 1.5)")
    record(QUESTION, {"ratio": "1,000,000 / 1,000 tasks", "goal": 1.5}, growth, "ratio")


if __name__ == "__main__":
    main()
