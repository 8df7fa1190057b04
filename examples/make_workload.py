"""Makes a directory with N mixed tasks to try manyhands on: a plan, or with --beads a Beads backlog.

    python examples/make_workload.py 200 --to /tmp/work
    cd /tmp/work && manyhands run plan.jsonl

    python examples/make_workload.py 200 --to /tmp/work --beads
    cd /tmp/work && manyhands serve

Three kinds of work of different length, some waiting for others, some after the same file; each sleeps a little
where a real one would think. The same seed makes the same workload.
"""

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

#: Kind → how long a task of it takes, in seconds at scale 1.
KINDS = {"code": 3.0, "text": 2.0, "reasoning": 4.0}
TITLES = {"code": "Fix the parser", "text": "Summarize the minutes", "reasoning": "Compare the designs"}
HOSTS = "\n".join(f'[hosts.{kind}-box]\ntype = "shell"\nkinds = ["{kind}"]\n' for kind in KINDS)

#: An issue does not say what to run: here all of a backlog run the same. Those without a list of files touch nothing.
BACKLOG = '\n[[backlogs]]\nbeads = "."\nrun = ["sleep", "{sleep_s:.3f}"]\nclaims = {{}}\n'


def make_tasks(count: int, seed: int, scale: float) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    tasks: list[dict[str, Any]] = []
    for n in range(count):
        kind = rng.choice(list(KINDS))
        task: dict[str, Any] = {"id": f"{kind}-{n}", "kind": kind, "title": f"{TITLES[kind]}, part {n}"}
        task["priority"] = rng.choices(range(5), (1, 4, 10, 4, 1))[0]
        earlier = [other["id"] for other in tasks[-20:]]
        if earlier and rng.random() < 0.2:
            task["needs"] = rng.sample(earlier, min(len(earlier), rng.randint(1, 2)))
        written = [f"src/{kind}-{rng.randrange(count)}.txt"] if rng.random() < 0.3 else []
        task["claims"] = {"write": written} if written else {}
        task["run"] = ["sleep", f"{KINDS[kind] * scale * rng.uniform(0.5, 1.5):.3f}"]
        tasks.append(task)
    return tasks


def write_plan(directory: Path, tasks: list[dict[str, Any]]) -> Path:
    file = directory / "plan.jsonl"
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return file


def write_beads(directory: Path, tasks: list[dict[str, Any]]) -> Path:
    """The same tasks as issues: what they need are `blocks` edges, what they write is in their metadata."""
    file = directory / ".beads" / "issues.jsonl"
    file.parent.mkdir(exist_ok=True)
    made_at = "2026-01-02T03:04:05Z"
    with file.open("w") as lines:
        for task in tasks:
            issue: dict[str, Any] = {"id": task["id"], "title": task["title"], "status": "open"}
            issue |= {"priority": task["priority"], "issue_type": "task", "created_at": made_at, "updated_at": made_at}
            issue["labels"] = [f"kind:{task['kind']}"]
            edges = [
                {"issue_id": task["id"], "depends_on_id": need, "type": "blocks"} for need in task.get("needs", ())
            ]
            if edges:
                issue["dependencies"] = edges
            if task["claims"]:
                issue["metadata"] = {"files": task["claims"]["write"]}
            lines.write(json.dumps(issue, separators=(",", ":")) + "\n")
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, metavar="N", help="how many tasks")
    parser.add_argument("--to", type=Path, default=Path("workload"), metavar="DIR", help="where (default workload)")
    parser.add_argument("--beads", action="store_true", help="a Beads backlog instead of a plan")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=0.1, help="how long tasks take; 1.0 is 2 to 4 seconds each")
    options = parser.parse_args()
    if options.count < 1 or options.scale <= 0:
        parser.error("N must be at least 1 and --scale above 0")
    if any((options.to / name).exists() for name in ("manyhands.toml", "plan.jsonl", ".beads")):
        parser.error(f"there is a workload in {options.to} already; name another directory with --to")
    options.to.mkdir(parents=True, exist_ok=True)
    tasks = make_tasks(options.count, options.seed, options.scale)
    backlog = BACKLOG.format(sleep_s=3.0 * options.scale) if options.beads else ""
    (options.to / "manyhands.toml").write_text(HOSTS + backlog)
    print((write_beads if options.beads else write_plan)(options.to, tasks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
