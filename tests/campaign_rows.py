"""Keeps what a long campaign tried: `make soak` appends a row to bench/results.jsonl for each test with the mark.

`@pytest.mark.campaign("kills of a leader", 500, "kills")` says what the test tries, how often, and in which unit.
`bench/campaign_page.py` makes docs/campaigns.md of the rows.
"""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    mark = item.get_closest_marker("campaign")
    if mark is not None and report.when == "call" and not report.skipped and os.environ.get("MANYHANDS_SOAK"):
        sys.path.append(str(BENCH))
        from record import record_campaign

        campaign, times, unit = mark.args
        command = f"MANYHANDS_SOAK=1 .venv/bin/pytest {item.nodeid.partition('[')[0]}"
        record_campaign(campaign, item.nodeid, command, times, unit, call.duration, report.failed)
    return report
