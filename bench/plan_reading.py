"""What does a plan cost to read, a row: time, with all checks, and memory?

Each plan is read in a process of its own, so that its memory is its own. Time is that of the processor: other work on
the machine must not count. The target: a million rows at <= 8 µs and <= 700 bytes a row.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record import record

QUESTION = "plan_reading"


def small(number: int) -> dict[str, Any]:
    return {"id": f"t{number}", "run": ["true"]}


def call(number: int) -> dict[str, Any]:
    return {"id": f"t{number}", "call": "package.module:function", "args": {"n": number}}


def typical(number: int) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "kind": "code",
        "title": f"Fix finding {number}",
        "priority": number % 5,
        "needs": [f"t{number - 1}"] if number % 10 else [],
        "claims": {"write": [f"src/part{number % 100}/**"], "append": ["CHANGELOG.md"]},
        "run": ["agent", "-p", "{prompt}"],
        "prompt": f"Look at finding {number} and fix it.",
        "timeout": "20m",
    }


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {"small": small, "call": call, "typical": typical}
CASES = [("small", ".jsonl", 1_000_000), ("call", ".jsonl", 300_000), ("typical", ".jsonl", 300_000)]
CASES += [("typical", ".toml", 5_000), ("typical", ".yaml", 5_000)]


def write_plan(file: Path, shape: str, rows: int) -> None:
    with file.open("w") as stream:
        if file.suffix == ".yaml":
            stream.write("task:\n")
        for number in range(rows):
            row = SHAPES[shape](number)
            if file.suffix == ".jsonl":
                stream.write(json.dumps(row) + "\n")
            elif file.suffix == ".yaml":
                stream.write("- " + json.dumps(row) + "\n")
            else:
                stream.write("[[task]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in row.items()))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {json.dumps(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def measure(file: str) -> None:
    """In a process of its own: prints what reading took, what it kept, and what the figures took."""
    from manyhands.sources.plans.plan_figures import figures_of
    from manyhands.sources.plans.plan_reading import read_plan

    before_bytes, started = _resident_bytes(), time.process_time()
    plan = read_plan([file])
    read_s = time.process_time() - started
    kept_bytes = _resident_bytes() - before_bytes
    started = time.process_time()
    figures_of(plan.tasks)
    figures_s = time.process_time() - started
    print(json.dumps({"read_s": read_s, "kept_bytes": kept_bytes, "figures_s": figures_s}))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    print(f"{'rows':>9}  {'shape':8} {'format':7} {'µs/row':>7} {'bytes/row':>10} {'figures':>8}")
    for shape, suffix, rows in CASES:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / f"plan{suffix}"
            write_plan(file, shape, rows)
            child = [sys.executable, __file__, str(file)]
            found = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
        row_us, row_bytes = found["read_s"] / rows * 1e6, found["kept_bytes"] / rows
        print(
            f"{rows:>9,}  {shape:8} {suffix:7} {row_us:7.2f} {row_bytes:10.0f} {found['figures_s']:6.2f} s", flush=True
        )
        params = {"rows": rows, "shape": shape, "format": suffix}
        record(QUESTION, params, row_us, "us/row")
        record(QUESTION, params, row_bytes, "bytes/row")
        record("plan_figures", params, found["figures_s"], "s")


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
