"""A scenario file that is wrong is refused with its name, whatever it holds."""

from pathlib import Path

import pytest

from manyhands.engine.sim.scenario import HOSTS_MAX, TASKS_MAX, read_scenario
from manyhands.errors import UsageError

GOOD = """
[hosts.api]
model = "api"
count = 2
[[backlog]]
tasks = 10
like = "api"
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("count = 2", "count = 99999999999999999999"), f"at most {HOSTS_MAX:,} hosts"),
        (("count = 2", f"count = {HOSTS_MAX + 1}"), f"at most {HOSTS_MAX:,} hosts"),
        (("tasks = 10", "tasks = 99999999999999999999"), f"at most {TASKS_MAX:,} tasks"),
        (("count = 2", "count = " + "9" * 5_000), "scenario"),
        (("count = 2", "x = " + "[" * 100_000), "nested too deeply"),
        (("count = 2", "count = \0"), "scenario"),
    ],
)
def test_a_scenario_without_bounds_is_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(GOOD)
    assert read_scenario(file).hosts["api"].count == 2
    file.write_text(GOOD.replace(*change))
    with pytest.raises(UsageError, match=said):
        read_scenario(file)
