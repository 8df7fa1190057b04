"""The page of campaigns adds up the newest row of each part, and a broken promise is not hidden by its size."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from campaign_page import newest, page

pytest_plugins = ["pytester"]


def row(question: str, value: float, unit: str, commit: str = "abc", **params: Any) -> str:
    return json.dumps({"question": question, "params": params, "value": value, "unit": unit, "commit": commit})


def kills(part: str, value: float, failed: bool = False, found: str = "") -> str:
    common = {"campaign": "kills", "date": "2030-01-02", "seconds": 70, "command": "pytest"}
    return row("campaign", value, "kills", part=part, failed=failed, found=found, **common)


def test_the_newest_row_of_each_part_counts() -> None:
    lines = [kills("x", 5, failed=True), kills("x", 500), kills("y", 700, found="3 s at most")]
    told = page(newest(lines))
    assert "| kills | 1,200 kills | nothing; 3 s at most | 2 min | 2030-01-02 | abc | `pytest` |" in told


def test_what_was_lost_is_told() -> None:
    told = page(newest([kills("x", 5), kills("y", 5, failed=True)]))
    assert "| kills | 10 kills | a promise was broken |" in told
    told = page(newest([row("fuzz", 9, "inputs", reader="beads", failures=2)]))
    assert "| fuzzing of readers | 9 inputs | inputs that failed: 2 |" in told
    told = page(newest([row("mutants", 49, "mutants", survived=1)]))
    assert "| 49 mutants | not found: 1 |" in told
    assert "make soak" in page(newest([row("packing", 9, "ratio")]))


@pytest.mark.parametrize("promise", [True, False])
def test_a_test_with_the_mark_leaves_a_row_in_a_soak_only(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, promise: bool
) -> None:
    import record

    results = pytester.path / "results.jsonl"
    monkeypatch.setattr(record, "RESULTS", results)
    pytester.makepyfile(
        f'import pytest\n@pytest.mark.campaign("kills", 12, "kills")\ndef test_kills():\n    assert {promise}\n'
    )
    monkeypatch.delenv("MANYHANDS_SOAK", raising=False)
    pytester.inline_run("-p", "campaign_rows", "-p", "no:cacheprovider")
    assert not results.exists()
    monkeypatch.setenv("MANYHANDS_SOAK", "1")
    pytester.inline_run("-p", "campaign_rows", "-p", "no:cacheprovider")
    (line,) = results.read_text().splitlines()
    kept = json.loads(line)
    assert (kept["value"], kept["unit"], kept["params"]["failed"]) == (12, "kills", not promise)
    assert kept["params"]["command"].startswith("MANYHANDS_SOAK=1 .venv/bin/pytest ")
    assert kept["params"]["command"].endswith("::test_kills")
