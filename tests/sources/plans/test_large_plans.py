"""A slice of what bench/plan_reading.py measures over a million rows: memory, which a busy machine cannot blur."""

import json
import tracemalloc
from pathlib import Path

from manyhands.sources.plans.plan_reading import read_plan

ROWS = 50_000


def test_a_large_plan_streams_in_at_a_few_hundred_bytes_a_row(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    with file.open("w") as stream:
        for number in range(ROWS):
            stream.write(json.dumps({"id": f"t{number}", "run": ["true"]}) + "\n")
    tracemalloc.start()
    try:
        plan = read_plan([file])
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(plan.tasks) == ROWS
    assert plan.places.of(ROWS - 1) == (str(file), ROWS)
    assert peak / ROWS <= 700
    assert kept / ROWS <= 400
