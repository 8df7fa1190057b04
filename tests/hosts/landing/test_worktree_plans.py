"""Plans, configurations and splits that ask for worktrees, as they are written and as they are refused."""

import json
from pathlib import Path

import msgspec
import pytest

from hosts.landing.project import Project
from manyhands.sources.config.config_reading import ConfigRefused, load_config
from manyhands.sources.config.landing_config import LandingConfig
from manyhands.sources.plans.plan_reading import PlanRefused, read_plan
from surfaces.cli.console import Console

ROOT = Path(__file__).parents[3]


def refusals(tmp_path: Path, **fields: object) -> list[str]:
    (tmp_path / "plan.jsonl").write_text(json.dumps({"id": "a", **fields}) + "\n")
    try:
        read_plan([tmp_path / "plan.jsonl"])
    except PlanRefused as refused:
        return [f"{problem.message} ({problem.hint})" for problem in refused.problems]
    return []


def test_a_command_may_ask_for_a_worktree_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('[[task]]\nid = "a"\nrun = ["true"]\nworkspace = "worktree"\n')
    (tmp_path / "b.yaml").write_text("task:\n- {id: b, run: ['true'], workspace: worktree}\n")
    (tmp_path / "c.jsonl").write_text('{"id": "c", "run": ["true"], "workspace": "worktree"}\n')
    plan = read_plan([tmp_path / name for name in ("a.toml", "b.yaml", "c.jsonl")])
    assert [task.workspace for task in plan.tasks] == ["worktree"] * 3


def test_other_workspaces_and_tasks_without_a_command_are_refused(tmp_path: Path) -> None:
    assert refusals(tmp_path, run=["true"], workspace="") == []
    assert 'must be "worktree" or be left out' in refusals(tmp_path, run=["true"], workspace="worktrees")[0]
    assert refusals(tmp_path, prompt="hello", workspace="worktree") == [], "an agent can work there"
    assert "only a command or an agent can have a worktree" in refusals(tmp_path, call="a:b", workspace="worktree")[0]


def test_landing_is_configured_checked_and_told(tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text('[landing]\nstrategy = "last-wins"\ntarget = "main"\n')
    config = load_config(tmp_path, environ={"MANYHANDS_LANDING_DIRTY": "stash", "MANYHANDS_LANDING_CHECK": "no"})
    assert config.landing == LandingConfig("last-wins", "main", "stash", False)
    origins = {setting.name: setting.origin for setting in config.settings}
    assert origins["landing.strategy"] == "manyhands.toml line 2"
    assert origins["landing.dirty"] == "env MANYHANDS_LANDING_DIRTY"
    (tmp_path / "manyhands.toml").write_text('[landing]\nstrategy = "three way"\nbranch = "main"\n')
    with pytest.raises(ConfigRefused) as refused:
        load_config(tmp_path, environ={})
    assert {problem.field for problem in refused.value.problems} == {"landing.strategy", "landing.branch"}


def test_issues_of_a_backlog_may_ask_for_worktrees_if_they_run_a_command(tmp_path: Path) -> None:
    config = tmp_path / "manyhands.toml"
    config.write_text('[[backlogs]]\nbeads = "."\nrun = ["true"]\nworkspace = "worktree"\n')
    assert load_config(tmp_path, environ={}).backlogs[0].workspace == "worktree"
    config.write_text('[[backlogs]]\nbeads = "."\ncall = "a:b"\nworkspace = "worktree"\n')
    with pytest.raises(ConfigRefused) as refused:
        load_config(tmp_path, environ={})
    assert "only a command or an agent can have a worktree" in refused.value.message


def test_every_setting_of_landing_is_explained() -> None:
    words = (ROOT / "docs" / "landing.md").read_text()
    assert [field for field in LandingConfig.__struct_fields__ if f"`{field}`" not in words] == []
    strategies = msgspec.json.schema(LandingConfig)["$defs"]["LandingConfig"]["properties"]["strategy"]["enum"]
    assert [name for name in strategies if f'`"{name}"`' not in words] == []


def test_a_split_makes_a_plan_whose_tasks_land(project: Project) -> None:
    project.commit({f"src/m{n}.py": f"VALUE = {n}\n" * 40 for n in range(4)}, "modules")
    console = Console(project.directory)
    agent = 'sh -c "for f in src/m*.py; do :; done; echo {id} > {id}.txt"'
    split = ("split", "src", "--budget", "200", "--plan", "plan.toml", "--worktrees")
    refused = console.run(*split)
    assert refused.code == 2
    assert "--run" in refused.err
    made = console.run(*split, "--run", agent)
    assert made.code == 0, made.err
    tasks = read_plan([project.directory / "plan.toml"]).tasks
    assert len(tasks) > 1
    assert {task.workspace for task in tasks} == {"worktree"}
    done = console.run("run", "plan.toml")
    assert done.code == 0, done.err
    assert sorted(project.landed()) == sorted(task.id for task in tasks)


def test_a_dirty_tree_is_refused_by_the_command_before_anything_is_written(project: Project) -> None:
    project.write({"base.txt": "mine\n"})
    console = Console(project.directory)
    console.plan([{"id": "a", "run": ["true"], "workspace": "worktree"}])
    refused = console.run("run", "plan.jsonl")
    assert refused.code == 2
    assert "has uncommitted changes, and work would land there: base.txt" in refused.err
    assert not project.store.exists()
