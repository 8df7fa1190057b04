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
