"""A plan for part of a project: its claims and prompts name files as the workspace sees them."""

from pathlib import Path

import pytest

from manyhands.core.claims import conflict
from manyhands.core.values.task import Claims, claims_of
from manyhands.errors import UsageError
from manyhands.sources.plans.plan_reading import read_plan
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.split import split_code_base
from manyhands.surfaces.cli.split_options import SplitOptions
from sources.split.trees import write_files
from surfaces.cli.console import Console, shell_host

FILES = {f"app/{place}/x/f{i}.py": f"import app.{place}.x.f0\n" + "#" * 900 for place in "ab" for i in range(2)}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_files(tmp_path / "project", FILES)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def _tasks_of(path: Path, **more):
    split_code_base(SplitOptions(path, budget=250, plan=Path("sub.toml"), **more), Settings())
    return read_plan([Path("sub.toml")]).tasks


@pytest.mark.parametrize("path", ["app", "./app/", "app/a/.."])
def test_claims_and_prompts_below_the_root_name_files_of_the_workspace(project: Path, path: str):
    tasks = _tasks_of(Path(path))
    claimed = [claim for task in tasks for claim in claims_of(task).write]
    assert sorted(claimed) == sorted(FILES)
    assert all((project / claim).is_file() for claim in claimed)
    assert all(conflict(task.claims, Claims(write=("app/**",))) for task in tasks)
    assert all(claim in task.prompt for task in tasks for claim in claims_of(task).write)
    neighbours = [line for task in tasks for line in task.prompt.splitlines() if line.startswith("- ")]
    assert all(line.startswith("- app/") for line in neighbours)


def test_the_workspace_is_where_the_configuration_is(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / "manyhands.toml").write_text("")
    monkeypatch.chdir(project / "app")
    claimed = [claim for task in _tasks_of(Path("b")) for claim in claims_of(task).write]
    assert claimed == ["app/b/x/f0.py", "app/b/x/f1.py"]


def test_a_plan_for_files_outside_the_workspace_is_refused(project: Path, tmp_path: Path):
    write_files(tmp_path / "elsewhere", {"a.py": "x\n"})
    with pytest.raises(UsageError) as refused:
        _tasks_of(tmp_path / "elsewhere")
    assert "is outside the workspace" in refused.value.message
    assert not (project / "sub.toml").exists()
    split_code_base(SplitOptions(tmp_path / "elsewhere"), Settings())


@pytest.mark.parametrize("place", ["app", "src/shop"])
def test_a_task_names_the_tests_beside_the_split_directory(project: Path, place: str):
    module = place.removeprefix("src/") + ".b.x.f1"
    write_files(project, {f"{place}/{package}__init__.py": "" for package in ("", "b/", "b/x/")})
    write_files(project, {f"{place}/b/x/f1.py": "#" * 900, f"{place}/b/x/f2.py": "#" * 900})
    write_files(project, {"tests/test_f1.py": f"from {module} import x\n", "tests/test_other.py": "import json\n"})
    tests_of = {}
    for task in _tasks_of(Path(place)):
        told = task.prompt.split("These tests cover your part:\n")[1].split("\n\n")[0]
        tests_of |= dict.fromkeys(claims_of(task).write, told)
    assert tests_of[f"{place}/b/x/f1.py"] == "- tests/test_f1.py"
    assert tests_of[f"{place}/b/x/f2.py"] == "(none)"


def test_what_people_read_names_the_places_of_the_workspace(project: Path):
    write_files(project, {f"app/c{i}.py": "#" * 900 for i in range(2)})
    tasks = _tasks_of(Path("app"))
    parts = [task.prompt.split("Your part is ")[1].split(" (")[0] for task in tasks]
    assert [task.title.split(" (")[0] for task in tasks] == parts
    assert all(part.startswith("app/") for part in parts)
    plan = read_plan([Path("sub.toml")])
    assert {about.title.split("/")[0] for about in plan.settings.epics.values()} == {"app"}


def test_the_leaves_of_a_flat_directory_are_called_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(write_files(tmp_path, {f"f{i}.py": "#" * 400 for i in range(6)}))
    titles = [task.title.split(" (")[0] for task in _tasks_of(Path())]
    assert titles == ["f0.py, f1.py", "f2.py, f3.py", "f4.py, f5.py"]


def test_a_check_is_the_check_of_each_task_and_the_prompt_names_it(project: Path):
    tasks = _tasks_of(Path("app"), run="agent {prompt}", check="pytest -q tests")
    assert {task.check for task in tasks} == {("pytest", "-q", "tests")}
    assert all("`pytest -q tests` must pass" in task.prompt for task in tasks)


def test_no_prompt_speaks_of_tests_that_are_not_there(project: Path):
    write_files(project, {"app/a/x/test_f0.py": "from app.a.x import f0\n"})
    for task in _tasks_of(Path("app")):
        has_tests = "These tests cover your part:\n(none)" not in task.prompt
        assert ("run these tests" in task.prompt) == has_tests


@pytest.mark.parametrize("suffix", [".toml", ".jsonl", ".json", ".yaml"])
def test_the_plan_says_what_it_is_for_and_what_its_parts_are_called(project: Path, suffix: str):
    options = SplitOptions(Path("app"), budget=250, plan=Path(f"sub{suffix}"), goal='Use "tabs".\nEverywhere.')
    split_code_base(options, Settings())
    plan = read_plan([Path(f"sub{suffix}")])
    assert plan.settings.goal == 'Use "tabs".\nEverywhere.'
    assert set(plan.settings.epics) == {task.parent for task in plan.tasks if task.parent}
    assert all(about.title for about in plan.settings.epics.values())


def test_the_task_tree_of_a_split_has_names(project: Path):
    console = Console(project)
    console.config(shell_host(2, kinds=["code"]))
    made = console.run("split", "app", "--budget", "250", "--plan", "sub.toml", "--run", "true")
    assert made.code == 0, made.err
    assert console.run("run", "sub.toml").code == 0
    lines = console.run("task", "tree").out.splitlines()
    assert lines[0] == "app/a/x, app/b/x  done 4/4"
    assert sorted(line.split("  ")[-1].split(" (")[0] for line in lines[1:]) == sorted(FILES)
    ids = console.run("task", "tree", "-o", "ids").out.split()
    assert len(ids) == 5
    assert all(id.startswith("s") for id in ids)


def test_one_leaf_is_one_leaf(project: Path):
    done = Console(project).run("split", "app", "--budget", "20000")
    assert "· 1 leaf (at least 1)" in done.out
