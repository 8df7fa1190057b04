"""Damage of any sort to a good plan makes it refused or leaves it good; it never makes the reader fall over."""

import json
import random
from pathlib import Path

import pytest

from manyhands.sources.plans.plan_reading import PlanRefused, read_plan
from sources.plans.test_good_plans import ROWS, TOML, YAML

DAMAGE = [
    *("\0", "\\u0000", "[", "]", "{", "}", '"', "'", "\n", "\t", "\r", ",", "# ", "= ", ": ", "- ", "---", "\ufeff"),
    *("9" * 5000, "1e999", "nan", "null", "true", "1979-05-27", "0x", "\\ud800", "\ud800", "é", "\xff"),
    *("~", "*a", "&a", "<<:", "!!set", "!!binary", "id", "..", "/////", "a" * 300, "'''", '"""'),
]
PLANS = {
    "plan.toml": TOML,
    "plan.yaml": YAML,
    "plan.jsonl": "\n".join(json.dumps(row) for row in ROWS),
    "plan.json": "[" + ",\n".join(json.dumps(row) for row in ROWS[1:]) + "]",
}


@pytest.mark.parametrize("name", PLANS)
def test_a_damaged_plan_is_refused_or_still_good(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    refused = 0
    for _ in range(250):
        text = PLANS[name]
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(text))
            text = text[:start] + chance.choice(DAMAGE) + text[start + chance.choice([0, 0, 1, 3, 10]) :]
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            read_plan([tmp_path / name])
        except PlanRefused as error:
            refused += 1
            printed = error.message + error.hint
            assert printed.replace("\n", "").isprintable()
            assert len(printed) < 20_000
    assert refused > 100
