"""Follows a run until it has finished, from another terminal: prints its counts whenever they change.

    python examples/monitor.py             the newest run of the store here
    python examples/monitor.py nightly-1   that one

Everything it knows comes from `manyhands runs show --output json`. Exits with 0 if all tasks were done, else 1.
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

#: What may still change; the other states are final.
OPEN = ("blocked", "ready", "running", "backoff", "deferred")
#: `manyhands` itself says so when there is no such run, or none at all.
EXIT_USAGE = 2


def look(run: str | None) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "manyhands", "runs", "show", *([run] if run else []), "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == EXIT_USAGE:
        return None
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", metavar="RUN")
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS", help="how often to look (default 1)")
    parser.add_argument("--patience", type=float, default=60.0, metavar="SECONDS", help="for a run to appear")
    options = parser.parse_args()
    give_up_at = time.monotonic() + options.patience
    shown = ""
    while True:
        run = look(options.run)
        if run is None and time.monotonic() > give_up_at:
            sys.exit(f"no run {options.run or ''} has appeared here in {options.patience:g} s")
        if run is not None:
            counts: dict[str, int] = run["counts"]
            now = " · ".join(f"{state} {n}" for state, n in counts.items() if n)
            if now != shown:
                shown = now
                print(f"{time.strftime('%H:%M:%S')}  {run['run']}: {now}", flush=True)
            if not any(counts[state] for state in OPEN) and run["total"]:
                return 0 if counts["done"] == run["total"] else 1
        time.sleep(options.every)


if __name__ == "__main__":
    sys.exit(main())
