"""Writes docs/campaigns.md from the newest rows of the campaigns in results.jsonl. `--check` only looks.

`make soak` appends the rows of tests marked with `campaign`. The fuzzer, the mutants and two benches append their own.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).with_name("results.jsonl")
PAGE = Path(__file__).parents[1] / "docs" / "campaigns.md"
TEXT = """# Campaigns

`make test` plays a short slice of each campaign, always the same. The full campaigns run apart from it. This page is
written by `bench/campaign_page.py` from the rows that they leave in `bench/results.jsonl`.

A campaign fails when a promise does not hold: an acknowledged change is lost or happens twice, two holders of a claim
work at once, damage goes unnoticed, or a reader ends with a traceback. "Nothing" means that no promise was broken.

"""
NOTHING_YET = "No campaign has left a row yet. `make soak` runs those that are tests.\n"


class Tried(NamedTuple):
    campaign: str
    part: str  # what tells the rows of one campaign apart
    times: float
    unit: str
    lost: str  # empty: nothing
    found: str  # figures beside it
    seconds: float
    date: str
    commit: str
    command: str


def tried_of(row: dict[str, Any]) -> Tried | None:
    """What the row tells of a campaign; None if it is a row of something else."""
    params = row["params"]
    common = {"times": row["value"], "unit": row["unit"], "commit": row["commit"]}
    common |= {name: params.get(name, "") for name in ("found", "date")} | {"seconds": params.get("seconds", 0)}
    match row["question"]:
        case "campaign":
            lost = "a promise was broken" if params["failed"] else ""
            return Tried(params["campaign"], params["part"], lost=lost, command=params["command"], **common)
        case "fuzz":
            lost = f"inputs that failed: {params['failures']}" if params["failures"] else ""
            command = ".venv/bin/python tests/fuzz/campaign.py --record"
            return Tried("fuzzing of readers", params["reader"], lost=lost, command=command, **common)
        case "mutants":
            lost = f"not found: {params['survived']}" if params["survived"] else ""
            return Tried("seeded bugs, each found by a test", "", lost=lost, command="make mutants", **common)
    return None


def newest(lines: Iterable[str]) -> list[Tried]:
    """The last row of each part of each campaign."""
    found: dict[tuple[str, str], Tried] = {}
    for line in lines:
        tried = tried_of(json.loads(line))
        if tried is not None:
            found[tried.campaign, tried.part] = tried
    return sorted(found.values())


def page(rows: list[Tried]) -> str:
    if not rows:
        return TEXT + NOTHING_YET
    lines = ["| campaign | tried | lost | took | date | commit | command |", "|---|--:|---|--:|---|---|---|"]
    for campaign in dict.fromkeys(row.campaign for row in rows):
        parts = [row for row in rows if row.campaign == campaign]
        lost = dict.fromkeys(row.lost for row in parts if row.lost) or ["nothing"]
        found = dict.fromkeys(row.found for row in parts if row.found)
        cells = [
            campaign,
            f"{sum(row.times for row in parts):,.0f} {parts[0].unit}",
            "; ".join([*lost, *found]),
            lasted(sum(row.seconds for row in parts)),
            max(row.date for row in parts),
            ", ".join(dict.fromkeys(row.commit.rstrip("+") for row in parts)),
            "<br>".join(f"`{command}`" for command in dict.fromkeys(row.command for row in parts)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return TEXT + "\n".join(lines) + "\n"


def lasted(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds / 60:.0f} min" if seconds >= 100 else f"{seconds:.0f} s"


def main() -> int:
    text = page(newest(RESULTS.read_text().splitlines()))
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        print("docs/campaigns.md is behind bench/results.jsonl; run `python bench/campaign_page.py`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
