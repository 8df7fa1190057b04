"""What belongs to a person is never lost: changes, untracked files, hooks; and where landing cannot be."""

from pathlib import Path

import pytest

from hosts.landing.project import ENV, Project, details, sh, states
from manyhands.errors import Conflict, UsageError
from manyhands.hosts.landing.repository import check_before
from manyhands.sources.config.landing_config import LandingConfig


def refuse(directory: Path, **landing: str) -> UsageError:
    with pytest.raises(UsageError) as refused:
        check_before(directory, LandingConfig(**landing), [sh("a", "true")])  # type: ignore[arg-type]
    return refused.value


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_uncommitted_changes_are_refused_before_anything_runs(project: Project) -> None:
    project.write({"base.txt": "mine\n", "untracked": "mine too\n"})
    refusal = refuse(project.directory)
    assert isinstance(refusal, Conflict)
    assert "base.txt" in refusal.message
    assert "untracked" not in refusal.message
    assert 'dirty = "stash"' in refusal.hint
    project.git("add", "base.txt")
    assert "base.txt" in refuse(project.directory).message


def test_plans_without_worktrees_and_other_targets_do_not_care(project: Project) -> None:
    project.write({"base.txt": "mine\n"})
    check_before(project.directory, LandingConfig(), [])
    project.git("branch", "other")
    check_before(project.directory, LandingConfig(target="other"), [sh("a", "true")])


async def test_edits_made_while_it_runs_are_kept_and_landing_beside_them_goes_on(project: Project) -> None:
    async def edit(_: object) -> None:
        project.write({"base.txt": "mine\n"})

    run = await project.run(
        sh("a", "sleep 0.2; touch a"), sh("b", "sleep 0.2; echo b >> base.txt", attempts=1), meanwhile=edit
    )
    assert states(run) == {"a": "done", "b": "failed"}
    assert details(run, "b")[0].startswith(f"failed: base.txt in {project.directory} would be overwritten; commit")
    assert project.read("base.txt") == "mine\n"
    assert project.branches() == ["manyhands/plan-1/b.1"]
    assert project.subjects() == ["a"]


async def test_untracked_files_are_never_overwritten(project: Project) -> None:
    project.write({"notes": "mine\n"})
    run = await project.run(sh("a", "echo theirs > notes", attempts=1))
    assert details(run, "a")[0].startswith("failed: notes in ")
    assert project.read("notes") == "mine\n"


async def test_stash_puts_changes_aside_and_brings_them_back(project: Project) -> None:
    project.config(dirty="stash")
    project.write({"base.txt": "ONE\ntwo\nthree\n", "CHANGELOG.md": "# Changes\nstaged\n"})
    project.git("add", "CHANGELOG.md")
    check_before(project.directory, LandingConfig(dirty="stash"), [sh("a", "true")])
    run = await project.run(sh("a", "sed -i s/three/THREE/ base.txt", attempts=1))
    assert states(run) == {"a": "done"}
    assert project.read("base.txt") == "ONE\ntwo\nTHREE\n"
    assert project.git("show", "HEAD:base.txt") == "one\ntwo\nTHREE"
    assert project.changes().splitlines() == ["M  CHANGELOG.md", " M base.txt"]
    assert project.git("stash", "list") == ""


async def test_stashed_changes_that_do_not_fit_any_more_stay_in_the_stash(project: Project) -> None:
    project.config(dirty="stash")
    project.write({"base.txt": "mine\n"})
    run = await project.run(sh("a", "echo theirs > base.txt"), sh("b", "touch b"))
    assert set(states(run).values()) == {"done"}
    assert "they are in `git stash`" in details(run, "a")[0]
    assert (project.read("base.txt"), project.changes()) == ("theirs\n", "")
    assert project.git("show", "stash@{0}:base.txt") == "mine"
    assert "manyhands: before plan-1/a landed" in project.git("stash", "list")


async def test_stashes_of_attempts_are_not_mistaken_for_those_of_a_person(project: Project) -> None:
    project.config(dirty="stash")
    project.write({"base.txt": "ONE\ntwo\nthree\n"})
    script = "echo theirs > CHANGELOG.md; git stash -q; sed -i s/three/THREE/ base.txt"
    run = await project.run(sh("a", script), sh("b", "git stash list; echo x > CHANGELOG.md; git stash -q; touch b"))
    assert set(states(run).values()) == {"done"}, details(run, "a")
    assert project.read("base.txt") == "ONE\ntwo\nTHREE\n"
    assert project.read("CHANGELOG.md") == "# Changes\n"
    assert len(project.git("stash", "list").splitlines()) == 2


async def test_changes_put_aside_when_it_was_killed_are_in_the_stash_after_the_next_start(project: Project) -> None:
    project.write({"base.txt": "mine\n"})
    aside = project.git("stash", "create", "manyhands: before plan-1/a landed")
    project.git("update-ref", f"refs/manyhands/aside/{aside}", aside)
    project.git("checkout", "--", "base.txt")
    run = await project.run(sh("a", "touch a"))
    assert states(run) == {"a": "done"}
    assert project.git("show", "stash@{0}:base.txt") == "mine"
    assert project.git("for-each-ref", "refs/manyhands") == ""


async def test_a_target_that_nobody_has_checked_out_moves_alone(project: Project) -> None:
    project.git("branch", "work")
    project.config(target="work")
    project.write({"base.txt": "mine\n"})
    run = await project.run(sh("a", "echo theirs > base.txt"), sh("b", "touch b"))
    assert set(states(run).values()) == {"done"}
    assert sorted(project.landed("work")) == ["a", "b"]
    assert project.subjects() == []
    assert project.read("base.txt") == "mine\n"


async def test_a_target_checked_out_in_another_worktree_of_a_person_is_brought_up_to_date_there(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    project.git("worktree", "add", "--quiet", "-b", "work", str(elsewhere))
    project.config(target="work")
    run = await project.run(sh("a", "echo theirs > base.txt"))
    assert states(run) == {"a": "done"}
    assert (elsewhere / "base.txt").read_text() == "theirs\n"
    assert project.git("status", "--porcelain", at=elsewhere) == ""


async def test_hooks_of_a_person_do_not_run_for_what_we_do(project: Project, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hooks = project.directory / ".git" / "hooks"
    for name in ("post-checkout", "pre-commit", "commit-msg", "post-commit", "post-merge", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\nexit 1\n")
        (hooks / name).chmod(0o755)
    run = await project.run(sh("a", "touch a"), sh("b", "touch b"))
    assert set(states(run).values()) == {"done"}
    assert not ran.exists()


async def test_variables_that_point_git_elsewhere_are_not_heeded(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Project(tmp_path / "other", {"other.txt": "other\n"})
    monkeypatch.setenv("GIT_DIR", str(other.directory / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.directory))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    run = await project.run(sh("a", "git rev-parse --show-toplevel > where"))
    monkeypatch.undo()
    assert states(run) == {"a": "done"}
    assert project.read("where").endswith(".manyhands/worktrees/plan-1/a.1\n")
    assert other.git("rev-list", "--count", "HEAD") == "1"


async def test_without_a_name_to_commit_under_there_is_one(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    project = Project(plain / "p", {"base.txt": "x\n"}, identity=False)
    project.config()
    run = await project.run(sh("a", "touch a"))
    assert states(run) == {"a": "done"}
    assert project.git("log", "-1", "--format=%an <%ae> %cn") == "manyhands <manyhands@localhost> manyhands"


async def test_a_bare_repository_is_landed_in_as_well(plain: Path) -> None:
    project = Project(plain / "p", {"base.txt": "x\n"})
    bare = plain / "bare.git"
    project.git("clone", "--quiet", "--bare", str(project.directory), str(bare))
    (bare / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\n')
    there = Project.__new__(Project)
    there.directory = bare
    run = await there.run(sh("a", "cat base.txt > copy"))
    assert states(run) == {"a": "done"}, details(run, "a")
    assert there.git("show", "main:copy") == "x"


async def test_submodules_stay_as_they_are(plain: Path) -> None:
    inner = Project(plain / "inner", {"inside.txt": "x\n"})
    project = Project(plain / "p", {"base.txt": "x\n"})
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.directory), "sub")
    project.git("commit", "--quiet", "-m", "a submodule")
    project.config()
    run = await project.run(sh("a", "ls sub > seen; touch a"), sh("b", "touch b"))
    assert set(states(run).values()) == {"done"}, details(run, "a")
    assert project.git("ls-tree", "HEAD", "sub").startswith("160000 commit")
    assert (project.directory / "sub" / "inside.txt").exists()
    assert project.worktrees() == []


def test_where_nothing_can_land_it_is_said_before_anything_runs(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plain / "empty").mkdir()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(plain))
    assert "is not in a usable git repository" in refuse(plain / "empty").message
    unborn = Project(plain / "unborn")
    assert "`main` has no commit yet" in refuse(unborn.directory).message
    assert "is inside a .git directory" in refuse(unborn.directory / ".git").message
    project = Project(plain / "p", {"base.txt": "x\n"})
    assert "there is no branch `work`" in refuse(project.directory, target="work").message
    assert "is not a branch name" in refuse(project.directory, target="a..b").message
    assert "there is no branch `--force`" in refuse(project.directory, target="--force").message
    project.git("checkout", "--quiet", "--detach")
    assert "HEAD is detached" in refuse(project.directory).message
    check_before(project.directory, LandingConfig(target="main"), [sh("a", "true")])
    project.git("checkout", "--quiet", "main")
    project.git("branch", "manyhands")
    assert "a branch is called `manyhands`" in refuse(project.directory).message
    monkeypatch.setenv("PATH", str(plain / "empty"))
    assert refuse(project.directory).message == "git is not installed"


async def test_a_repository_that_is_not_there_fails_its_tasks_once_and_harms_no_others(plain: Path) -> None:
    project = Project(plain / "unborn")
    project.config()
    beside = sh("b", "touch b")
    beside = type(beside)("b", kind="shell", run=("true",))
    run = await project.run(sh("a", "touch a"), beside)
    assert states(run) == {"a": "failed", "b": "done"}
    assert details(run, "a") == ["failed: branch `main` has no commit yet; make a first commit"]
