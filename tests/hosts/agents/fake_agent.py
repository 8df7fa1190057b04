"""A program that stands in for an agent: prints what it is told to, and keeps what it was given.

Its first argument is a JSON file: a list of runs, each {"lines": [...], "exit": 0, "then": shell command}. The n-th
start plays the n-th run, the last one again and again; arguments, input and cwd go to `given.N.json` beside it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    script = Path(sys.argv[1])
    number = len(list(script.parent.glob("given.*.json"))) + 1
    given = {"argv": sys.argv[2:], "input": sys.stdin.read(), "cwd": os.getcwd(), "env": dict(os.environ)}
    (script.parent / f"given.{number}.json").write_text(json.dumps(given))
    runs = json.loads(script.read_text())
    run = runs[min(number, len(runs)) - 1]
    if run.get("then"):
        subprocess.run(["sh", "-c", run["then"]], check=False)
    for line in run.get("lines", []):
        print(line, flush=True)
    print(run.get("errors", ""), file=sys.stderr, end="", flush=True)
    if run.get("after"):
        subprocess.run(["sh", "-c", run["after"]], check=False)
    return int(run.get("exit", 0))


if __name__ == "__main__":
    raise SystemExit(main())
