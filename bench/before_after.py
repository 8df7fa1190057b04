"""Did a change make the engine slower? Three costs at an earlier commit and now, taken in turns in one run.

`python bench/before_after.py COMMIT` asks each commit's own benchmarks: the core's cost a task, plan reading, and
durable throughput. The median of the rounds counts, and each median is told beside the earlier one.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from plan_reading import write_plan
from record import record

QUESTION = "before_after"
ROOT = Path(__file__).parent.parent
PLAN_ROWS = 100_000
TASKS = 20_000


def core_us(tree: Path) -> float:
    code = "import scheduler_throughput; exec(scheduler_throughput._CHILD)"
    return float(_told(tree, "-c", code, str(TASKS), "100").split()[0])


def plan_us(shape: str) -> Callable[[Path], float]:
    def measured(tree: Path) -> float:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "plan.jsonl"
            write_plan(file, shape, PLAN_ROWS)
            found = json.loads(_told(tree, str(tree / "bench" / "plan_reading.py"), str(file)))
        return float(found["read_s"]) / PLAN_ROWS * 1e6

    return measured


def durable_us(tree: Path) -> float:
    """Processor time would hide the disk, so this one goes by the clock: run it on a quiet machine."""
    code = f"import noop; print(noop.measure({TASKS}, 'crash').tasks_per_s)"
    return 1e6 / float(_told(tree, "-c", code))


COSTS: dict[str, Callable[[Path], float]] = {
    "core": core_us,
    "plan reading, small rows": plan_us("small"),
    "plan reading, typical rows": plan_us("typical"),
    "durable no-ops": durable_us,
}


def _told(tree: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}:{tree / 'bench'}"}
    child = [sys.executable, *arguments]
    return subprocess.run(child, env=environment, cwd=tree, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier commit")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        before = Path(directory) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", str(before), asked.commit], cwd=ROOT, check=True)
        try:
            for name, cost in COSTS.items():
                _compare(name, cost, before, asked)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(before)], cwd=ROOT, check=True)


def _compare(name: str, cost: Callable[[Path], float], before: Path, asked: argparse.Namespace) -> None:
    taken: dict[Path, list[float]] = {before: [], ROOT: []}
    for turn in range(asked.rounds):
        for tree in (before, ROOT) if turn % 2 else (ROOT, before):
            taken[tree].append(cost(tree))
    was, now = statistics.median(taken[before]), statistics.median(taken[ROOT])
    print(f"{name:28} {was:8.2f} -> {now:8.2f} µs each   {now / was:.3f} ×", flush=True)
    record(QUESTION, {"cost": name, "before": asked.commit, "rounds": asked.rounds}, now / was, "ratio")


if __name__ == "__main__":
    main()
