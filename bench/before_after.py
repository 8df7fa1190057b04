"""Did a change make the engine slower? Its costs at an earlier commit and now, side by side in one run.

`python bench/before_after.py COMMIT` asks each commit's own benchmarks. The core's cost of a task and the reading of a
plan are counted in instructions, with valgrind: a count is the same whatever else the machine does. Durable throughput
waits for the disk, so it goes by the clock: the commits take turns, the median of the rounds counts, and the machine
must be quiet.
"""

import argparse
import os
import re
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
#: Each cost is counted with so few and so many, so that what a start costs is left out.
FEW, MANY = 1_000, 5_000
TASKS = 20_000
#: Reads a plan, in this commit or in one before the rooms. The collector of garbage starts by thresholds, so that a
#: few objects more can cost a whole collection: it is switched off.
_READING = """
import gc, sys
try:
    from manyhands.sources.plans.plan_reading import read_plan
except ImportError:
    from manyhands.backlogs.plan import read_plan
gc.disable()
read_plan([sys.argv[1]])
"""


def core_instructions(tree: Path) -> float:
    def count(tasks: int) -> int:
        code = "import scheduler_throughput; exec(scheduler_throughput._CHILD)"
        return _counted(tree, "-c", code, str(tasks), "100")

    # Of fewer tasks than this its own benchmark repeats itself.
    return (count(2 * TASKS) - count(TASKS)) / TASKS


def plan_instructions(shape: str) -> Callable[[Path], float]:
    def counted(tree: Path) -> float:
        def count(rows: int) -> int:
            with tempfile.TemporaryDirectory() as directory:
                file = Path(directory) / "plan.jsonl"
                write_plan(file, shape, rows)
                return _counted(tree, "-c", _READING, str(file))

        return (count(MANY) - count(FEW)) / (MANY - FEW)

    return counted


def durable_us(tree: Path) -> float:
    code = f"import noop; print(noop.measure({TASKS}, 'crash').tasks_per_s)"
    return 1e6 / float(_run(tree, sys.executable, "-c", code).stdout)


COUNTED: dict[str, Callable[[Path], float]] = {
    "core, a task": core_instructions,
    "plan reading, small rows": plan_instructions("small"),
    "plan reading, typical rows": plan_instructions("typical"),
}


def _counted(tree: Path, *arguments: str) -> int:
    _run(tree, sys.executable, *arguments)  # the bytecode is on disk from then on, and is not counted
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    says = _run(tree, *valgrind, sys.executable, *arguments).stderr
    found = re.search(r"Collected : (\d+)", says)
    if found is None:
        raise SystemExit(f"valgrind counted nothing:\n{says}")
    return int(found[1])


def _run(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPATH": f"{tree / 'src'}:{tree / 'bench'}", "PYTHONHASHSEED": "0"}
    return subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier commit")
    parser.add_argument("--only", choices=COUNTED, help="count only this cost")
    parser.add_argument("--rounds", type=int, default=9, help="of the durable throughput; 0 leaves it out")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        before = Path(directory) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", str(before), asked.commit], cwd=ROOT, check=True)
        try:
            for name, count in COUNTED.items() if asked.only is None else [(asked.only, COUNTED[asked.only])]:
                _tell(name, "instructions", count(before), count(ROOT), {"before": asked.commit})
            if asked.rounds and asked.only is None:
                _compare_durable(before, asked)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(before)], cwd=ROOT, check=True)


def _compare_durable(before: Path, asked: argparse.Namespace) -> None:
    taken: dict[Path, list[float]] = {before: [], ROOT: []}
    for turn in range(asked.rounds):
        for tree in (before, ROOT) if turn % 2 else (ROOT, before):
            taken[tree].append(durable_us(tree))
    was, now = statistics.median(taken[before]), statistics.median(taken[ROOT])
    _tell("durable no-ops", "µs", was, now, {"before": asked.commit, "rounds": asked.rounds})


def _tell(name: str, unit: str, was: float, now: float, params: dict[str, object]) -> None:
    if was <= 0 or now <= 0:
        sys.exit(f"{name}: {was:,.1f} -> {now:,.1f} {unit} each is impossible, so nothing is recorded; run it again")
    print(f"{name:28} {was:10,.1f} -> {now:10,.1f} {unit} each   {now / was:.3f} ×", flush=True)
    record(QUESTION, {"cost": name, "of": unit, **params}, now / was, "ratio")


if __name__ == "__main__":
    main()
