"""Keeps what a benchmark found: one line of `results.jsonl` for each value, with the commit and the machine."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.jsonl")


def record(question: str, params: dict[str, Any], value: float, unit: str) -> None:
    line = {
        "commit": _commit(),
        "host": f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "question": question,
        "params": params,
        "value": round(value, 6),
        "unit": unit,
    }
    with RESULTS.open("a") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def record_campaign(
    campaign: str, part: str, command: str, times: float, unit: str, seconds: float, failed: bool, found: str = ""
) -> None:
    """What was tried, how often, and whether a promise was broken. The rows of a campaign add up over its parts."""
    told = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "seconds": round(seconds), "failed": failed, "found": found}
    record("campaign", {"campaign": campaign, "part": part, "command": command, **told}, times, unit)


def _commit() -> str:
    """The commit measured; with a plus if the tree had changes beyond it."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=10"],
        cwd=RESULTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
