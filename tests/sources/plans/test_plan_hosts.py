"""Every task of a plan has a host that can take it, or the plan is refused before it starts."""

from pathlib import Path

import pytest

from manyhands.core.values.host import Host
from manyhands.sources.plans.host_check import check_hosts
from manyhands.sources.plans.plan_reading import Plan, PlanRefused, read_plan

SHELL = Host("local", kinds=("code*", "shell"), takes=("run",), resources={"gpu_gb": 16, "seats": 1})
MODEL = Host("skadi", kinds=("text",), takes=("prompt",), resources={"seats": 8})


def plan_of(directory: Path, *rows: str) -> Plan:
    (directory / "plan.jsonl").write_text("\n".join(rows))
    return read_plan([directory / "plan.jsonl"])


def test_a_plan_that_its_hosts_can_take_has_no_problem(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path,
        '{"id": "a", "run": ["x"], "kind": "code-review", "resources": {"gpu_gb": 16}}',
        '{"id": "b", "prompt": "x", "host": "skadi"}',
        '{"id": "c", "run": ["x"]}',
    )
    assert check_hosts(plan, [SHELL, MODEL]) == []


@pytest.mark.parametrize(
    ("row", "field", "message", "hint"),
    [
        ('{"id": "a", "run": ["x"], "kind": "audit"}', "kind", "none that takes `run` takes kind `audit`", "kinds"),
        ('{"id": "a", "call": "m:f"}', "call", "none takes tasks with `call`", 'type = "python"'),
        ('{"id": "a", "prompt": "x", "kind": "code"}', "kind", "none that takes `prompt` takes kind `code`", ""),
        ('{"id": "a", "run": ["x"], "host": "locl"}', "host", "there is no host `locl`", "did you mean `local`?"),
        ('{"id": "a", "run": ["x"], "host": "skadi"}', "run", "host `skadi` does not take tasks with `run`", "shell"),
        (
            '{"id": "a", "run": ["x"], "resources": {"gpu_gb": 24}}',
            "resources.gpu_gb",
            "it asks for 24 of `gpu_gb`; the most is 16 on `local`",
            "resources.gpu_gb",
        ),
        ('{"id": "a", "run": ["x"], "resources": {"tpu": 1}}', "resources.tpu", "the most is 0 on `local`", ""),
    ],
)
def test_what_no_host_can_take_is_told(tmp_path: Path, row: str, field: str, message: str, hint: str) -> None:
    [problem] = check_hosts(plan_of(tmp_path, "", row), [SHELL, MODEL])
    assert (problem.line, problem.field) == (2, field)
    assert message in problem.message
    assert hint in problem.hint


def test_tasks_that_lack_the_same_are_one_problem(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, *(f'{{"id": "t{n}", "call": "m:f"}}' for n in range(5)))
    problems = check_hosts(plan, [SHELL, MODEL])
    assert "no host can take task `t0` (and 4 more like it)" in problems[0].message
    assert PlanRefused(problems).message.startswith(f"plan `{tmp_path}/plan.jsonl` line 1: no host can take")


def test_resources_must_be_on_one_host(tmp_path: Path) -> None:
    row = '{"id": "a", "run": ["x"], "resources": {"gpu_gb": 1, "seats": 2}}'
    both = [SHELL, Host("desk", kinds=("shell",), takes=("run",), resources={"seats": 2})]
    [problem] = check_hosts(plan_of(tmp_path, row), both)
    assert "no single host has 1 of `gpu_gb`, 2 of `seats`" in problem.message
