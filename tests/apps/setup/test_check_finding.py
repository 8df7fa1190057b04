"""The check that `init` and `do` choose for a project: one that fails if the tests fail, or none."""

import subprocess
from pathlib import Path

import pytest

from apps.setup.test_first_five_minutes import TESTS
from manyhands.apps.setup.check_finding import check_for, lacking_for

PLAIN = "def test_it() -> None:\n    assert 1 + 1 == 3\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing but Python and a shell is on the PATH: no pytest."""
    (tmp_path / "bin").mkdir()
    for name in ("python3", "sh"):
        (tmp_path / "bin" / name).symlink_to(
            f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else f"/bin/{name}"
        )
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    project = tmp_path / "project"
    project.mkdir()
    return project


def put(project: Path, name: str, text: str) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)


def test_tests_for_pytest_have_no_check_without_it_because_unittest_would_pass_them_all(project: Path) -> None:
    put(project, "tests/test_some.py", PLAIN)
    assert check_for(project) == ()
    assert "pytest" in lacking_for(project)
    assert "uv tool install pytest" in lacking_for(project)


def test_nothing_is_lacking_where_there_are_no_tests_or_a_check_is_found(project: Path) -> None:
    assert lacking_for(project) == ""
    put(project, "tests/test_some.py", TESTS)
    assert lacking_for(project) == ""


@pytest.mark.parametrize("packages", [(), ("tests", "tests/deep")], ids=["folders", "packages"])
@pytest.mark.parametrize("broken", ["tests/test_a.py", "tests/deep/test_b.py"])
def test_a_failing_unittest_in_any_folder_fails_the_check(
    project: Path, broken: str, packages: tuple[str, ...]
) -> None:
    for name in ("tests/test_a.py", "tests/deep/test_b.py"):
        put(project, name, TESTS)
    for package in packages:
        put(project, f"{package}/__init__.py", "")
    command = check_for(project)
    assert subprocess.run(command, cwd=project, check=False, capture_output=True).returncode == 0
    put(project, broken, TESTS.replace("assertTrue(True)", "assertTrue(False)"))
    assert subprocess.run(command, cwd=project, check=False, capture_output=True).returncode == 1
