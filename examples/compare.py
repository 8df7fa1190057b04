"""The same workload one at a time and as wide as manyhands finds good: how long each takes, and the ratio.

    python examples/compare.py 60 --scale 0.1

Makes a workload with make_workload.py in a directory of its own and runs it twice, each time with a new journal.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MAKE_WORKLOAD = Path(__file__).with_name("make_workload.py")


def run(directory: Path, store: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "manyhands", "run", "plan.jsonl", "--store", store, "--output", "json", *options]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, nargs="?", default=60, metavar="N", help="how many tasks (default 60)")
    parser.add_argument("--scale", type=float, default=0.1, help="how long tasks take; 1.0 is 2 to 4 seconds each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="manyhands-") as place:
        made = [str(options.count), "--to", place, "--scale", str(options.scale), "--seed", str(options.seed)]
        subprocess.run([sys.executable, str(MAKE_WORKLOAD), *made], check=True, stdout=subprocess.DEVNULL)
        serial = run(Path(place), "serial", "--concurrency", "1")
        adaptive = run(Path(place), "adaptive")
    for name, told in (("one at a time", serial), ("adaptive", adaptive)):
        print(f"{name:<14}{told['makespan_s']:8.2f} s   peak {told['peak']:3}   {told['counts']['done']} done")
    print(f"{'ratio':<14}{serial['makespan_s'] / adaptive['makespan_s']:8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
