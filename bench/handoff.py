"""What does `manyhands handoff` of a run of 5,000 tasks cost, in which each task notes something of every kind?

The run is a real one. The least of the rounds counts. The goal: at most 2,000 words, in at most a second.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from record import record

QUESTION = "handoff"
TASKS = 5_000
ROUNDS = 5
CONFIG = '[hosts.local]\ntype = "shell"\nwidth = 8\n[store]\ndurability = "crash"\n'
KINDS = ("outcome", "decision", "question", "lesson", "handoff")
NOTES = "".join(f"{kind}: $MANYHANDS_TASK " + "says what the next one must know " * 5 + "\\n" for kind in KINDS)


def manyhands(place: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "manyhands", *arguments]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as place:
        (Path(place) / "manyhands.toml").write_text(CONFIG)
        said = ["sh", "-c", f'printf "{NOTES}" > "$MANYHANDS_NOTES_FILE"']
        rows = ({"id": f"t{n}", "run": said, "claims": {}} for n in range(TASKS))
        (Path(place) / "plan.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        manyhands(place, "run", "plan.jsonl")
        walls, processors = [], []
        for _ in range(ROUNDS):
            before, start = os.times(), time.perf_counter()
            text = manyhands(place, "handoff")
            walls.append(time.perf_counter() - start)
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            processors.append(used)
        measured = ("words", len(text.split()), "words"), ("wall", min(walls), "s"), ("processor", min(processors), "s")
        for what, value, unit in measured:
            print(f"handoff of {TASKS:,} tasks, {what}: {value:,.4g} {unit}")
            record(QUESTION, {"tasks": TASKS, "what": what}, value, unit)


if __name__ == "__main__":
    main()
