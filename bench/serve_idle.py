"""What does `manyhands serve` cost while nothing happens, and how soon does it react, with 5,000 issues to watch?

The goals: at most 1 % of a core while idle; from someone's write to the start on record at most 0.5 s (p95).
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import psutil
from record import record

from manyhands.surfaces.verbs.store_view import open_book

QUESTION = "serve_idle"
ISSUES = 5_000
IDLE_S = 10.0
EDITS = 20
#: Half of the issues are closed; the others are of a kind that no host takes, so that they stay where they are.
CONFIG = """
[hosts.local]
type = "shell"
kinds = ["urgent"]
width = 4
[[backlogs]]
beads = "."
claims = {}
run = ["true"]
"""
AT = "2026-01-02T03:04:05Z"


def issue(n: int) -> dict[str, object]:
    fields: dict[str, object] = {"id": f"p-{n}", "title": f"Do {n}", "description": "What is to be done. " * 40}
    fields |= {"status": "open", "priority": 2, "issue_type": "task", "created_at": AT, "updated_at": AT}
    if n % 2:
        fields |= {"status": "closed", "closed_at": AT}
    elif n >= 10:
        fields["dependencies"] = [{"issue_id": f"p-{n}", "depends_on_id": f"p-{n - 10}", "type": "blocks"}]
    return fields


def write(file: Path, rows: list[dict[str, object]]) -> float:
    beside = file.with_suffix(".new")
    beside.write_text("".join(json.dumps(row) + "\n" for row in rows))
    at = time.time()
    beside.replace(file)
    return at


def cpu_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return spent.user + spent.system


def idle_share(process: psutil.Process, seconds: float) -> float:
    """Of one core."""
    before, start = cpu_s(process), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(process) - before) / (time.monotonic() - start)


def reactions(directory: Path, edits: int) -> list[float]:
    """From the write to the start on record, a new P0 each time."""
    written_at: dict[str, float] = {}
    for n in range(edits):
        id = f"u-{n}"
        file = directory / ".beads" / "issues.jsonl"
        rows = [json.loads(line) for line in file.read_bytes().splitlines()]
        written_at[id] = write(file, [*rows, issue(0) | {"id": id, "priority": 0, "labels": ["kind:urgent"]}])
        time.sleep(1.0)
    time.sleep(5.0)
    records = next(iter(open_book(directory / ".manyhands").runs.values())).records
    return sorted(records[id].history[0].started_at - at for id, at in written_at.items())  # type: ignore[index]


@contextmanager
def serving(directory: Path) -> Iterator[psutil.Process]:
    """A `manyhands serve` that has read all the issues and found nothing to do."""
    (directory / ".beads").mkdir()
    (directory / "manyhands.toml").write_text(CONFIG)
    write(directory / ".beads" / "issues.jsonl", [issue(n) for n in range(ISSUES)])
    command = [sys.executable, "-m", "manyhands", "serve", "--port", "0"]
    with (directory / "err").open("wb") as err:
        process = subprocess.Popen(command, cwd=directory, stderr=err)
    try:
        while b"action=submitted" not in (directory / "err").read_bytes():
            assert process.poll() is None, (directory / "err").read_text()
            time.sleep(0.05)
        time.sleep(2.0)
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as made, serving(Path(made)) as process:
        share = idle_share(process, IDLE_S)
        took = reactions(Path(made), EDITS)
    p95 = took[round(0.95 * (len(took) - 1))]
    print(f"idle with {ISSUES:,} issues: {share:.2%} of a core over {IDLE_S:g} s")
    print(f"write to start: median {took[len(took) // 2]:.3f} s, p95 {p95:.3f} s, longest {took[-1]:.3f} s")
    record(QUESTION, {"issues": ISSUES, "over_s": IDLE_S}, share, "share of a core")
    record(QUESTION, {"issues": ISSUES, "edits": EDITS, "quantile": 0.95}, p95, "s from write to start")


if __name__ == "__main__":
    main()
