"""A worktree for each attempt: where it starts, what it sees, what is recorded of it, and that it goes away."""

import json
from pathlib import Path

import pytest

from hosts.landing.project import Project, attempts, details, sh, states, until
from manyhands.core.events import CancelAsked
from manyhands.core.values.task import Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.hosts.landing import claim_watch
from manyhands.hosts.landing.worktree import safe_name


def record(project: Project, attempt: str, run: str = "plan-1") -> dict[str, object]:
    return json.loads((project.store / "attempts" / run / attempt / "landing.json").read_text())  # type: ignore[no-any-return]


async def test_work_done_in_a_worktree_lands_as_one_commit_with_the_task_in_its_message(project: Project) -> None:
    base = project.git("rev-parse", "HEAD")
    task = sh("a-1", "echo new > new.txt; echo more >> base.txt", write=("new.txt", "base.txt"), title="Say more")
    run = await project.run(task)
    assert states(run) == {"a-1": "done"}
    assert project.read("new.txt") == "new\n"
    assert project.git("log", "-1", "--format=%B%an") == (
        "a-1: Say more\n\nManyhands-Task: plan-1/a-1\nManyhands-Attempt: 1\nSomeone"
    )
    assert project.git("rev-parse", "HEAD^") == base
    assert project.changes() == ""
    assert (project.branches(), project.worktrees()) == ([], [])
    head = project.git("rev-parse", "HEAD")
    assert details(run, "a-1") == [f"done: landed as {head[:10]} on main: 2 files"]
    known = record(project, "a-1.1")
    assert (known["base"], known["landed"], known["touched"]) == (base, head, ["base.txt", "new.txt"])


async def test_what_an_attempt_touched_outside_its_claims_is_told(project: Project) -> None:
    run = await project.run(
        sh(
            "a",
            "mkdir -p src/x; touch src/x/in src/out; echo >> CHANGELOG.md",
            write=("src/x/**",),
            append=("CHANGELOG.md",),
        )
    )
    assert details(run, "a")[0].endswith("3 files; outside its claims: src/out")
    assert record(project, "a.1")["undeclared"] == ["src/out"]


async def test_what_an_attempt_changes_outside_its_claims_is_told_while_it_runs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task ends when its own log says so."""
    monkeypatch.setattr(claim_watch, "LOOK_EVERY_S", 0.05)
    log = '"$(dirname "$MANYHANDS_ENDING_FILE")/output.log"'
    script = f"echo >> base.txt; touch in out; until grep -q 'changed out,' {log}; do sleep 0.05; done; cat {log} > in"
    run = await project.run(sh("a", script, write=("in",), timeout=60.0))
    assert states(run) == {"a": "done"}, details(run, "a")
    told = [f"! changed {file}, which its task does not claim" for file in ("base.txt", "out")]
    assert project.read("in").splitlines() == told, "each once"


async def test_a_task_that_declares_no_claims_has_nothing_to_keep_to(project: Project) -> None:
    run = await project.run(Task("a", kind="shell", run=("touch", "x"), workspace="worktree"))
    assert details(run, "a")[0].endswith(": 1 file")


async def test_a_failed_attempt_leaves_nothing_and_the_next_one_starts_afresh(project: Project) -> None:
    script = 'test ! -e junk && echo junk | tee junk > base.txt; [ "$MANYHANDS_ATTEMPT_NUMBER" = 2 ]'
    run = await project.run(sh("a", script, write=("**",)), sh("b", "touch b", write=("b",)))
    assert states(run) == {"a": "done", "b": "done"}
    assert [tried.ending.kind for tried in attempts(run, "a") if tried.ending] == ["failed", "done"]
    assert project.read("base.txt") == "junk\n"
    assert (project.branches(), project.worktrees()) == ([], [])


async def test_an_attempt_that_fails_its_check_does_not_land(project: Project) -> None:
    run = await project.run(sh("a", "echo bad > new.txt", write=("**",), check=("grep", "good", "new.txt"), attempts=1))
    assert states(run) == {"a": "failed"}
    assert (project.subjects(), project.branches(), project.worktrees()) == ([], [], [])


async def test_a_task_that_changes_nothing_is_done_without_a_commit(project: Project) -> None:
    run = await project.run(sh("a", "true"))
    assert details(run, "a") == ["done: it changed nothing"]
    assert project.subjects() == []


async def test_commits_of_the_attempt_itself_become_one(project: Project) -> None:
    script = 'for n in 1 2; do echo $n > f$n; git add f$n; git commit -qm "part $n"; done; echo 3 > f3'
    await project.run(sh("a", script, title="Three parts"))
    assert project.subjects() == ["a: Three parts"]
    assert "* part 1\n* part 2\n" in project.git("log", "-1", "--format=%b")
    assert [project.read(f"f{n}") for n in (1, 2, 3)] == ["1\n", "2\n", "3\n"]


async def test_a_task_starts_from_what_its_needs_have_landed(project: Project) -> None:
    run = await project.run(
        sh("first", "echo 1 > one"),
        sh("second", "cat one one > two", needs=("first",)),
        sh("third", "cat two", needs=("second",)),
    )
    assert set(states(run).values()) == {"done"}
    assert project.read("two") == "1\n1\n"


async def test_ignored_files_and_caches_stay_out_and_odd_names_get_in(project: Project) -> None:
    project.commit({".gitignore": "*.o\n", "kept/__pycache__/c": "tracked\n"}, "ignore")
    script = "touch a.o; touch 'with blank' 'ümläut' -- -dash; ln -s base.txt link; printf x > run.sh; chmod +x run.sh"
    script += (
        "; mkdir -p __pycache__ in/.pytest_cache; touch __pycache__/a in/.pytest_cache/b; echo >> kept/__pycache__/c"
    )
    run = await project.run(sh("a", script, write=("kept/**", "with blank", "ümläut", "-dash", "link", "run.sh")))
    assert "outside" not in details(run, "a")[0]
    listed = project.git("-c", "core.quotePath=false", "ls-tree", "--name-only", "HEAD").splitlines()
    assert {"with blank", "ümläut", "-dash", "link", "run.sh"} < set(listed)
    assert not {"a.o", "__pycache__", "in"} & set(listed)
    assert project.read("kept/__pycache__/c") == "tracked\n\n", "what is tracked is someone's work"
    assert (project.directory / "link").is_symlink()


async def test_the_workspace_may_lie_below_the_top_of_its_repository(project: Project) -> None:
    project.commit({"sub/here.txt": "here\n"}, "a directory")
    project.config(at="sub")
    task = sh("a", "cat here.txt > copy; touch ../up", write=("copy",))
    run = await project.run(task, sh("b", "touch c", write=("deep/c",), cwd="deep", attempts=1), at="sub")
    assert details(run, "a")[0].endswith("2 files; outside its claims: up")
    assert project.read("sub/copy") == "here\n"
    assert "does not exist" in details(run, "b")[0]


async def test_a_repository_that_an_attempt_makes_inside_is_refused(project: Project) -> None:
    script = "git init -q inner; cd inner; git -c user.name=a -c user.email=a commit -qm x --allow-empty"
    run = await project.run(sh("a", script, attempts=1))
    assert details(run, "a") == ["failed: it made another git repository in inner; delete its .git"]
    assert project.subjects() == []


async def test_what_an_attempt_leaves_locked_or_read_only_is_in_nobodys_way(project: Project) -> None:
    script = 'mkdir d; touch d/f; chmod 500 d; touch "$(git rev-parse --git-path index.lock)"'
    run = await project.run(sh("a", script))
    assert states(run) == {"a": "done"}
    assert project.worktrees() == []
    assert list((project.store / "worktrees").rglob("f")) == []


async def test_a_cancelled_attempt_is_stopped_cleared_away_and_never_lands(project: Project, tmp_path: Path) -> None:
    flag = tmp_path / "flag"

    async def cancel(dispatcher: Dispatcher) -> None:
        await until(flag.exists)
        dispatcher.tell(CancelAsked(dispatcher.clock.now(), "plan-1", "a", "enough"))

    run = await project.run(sh("a", f"touch x {flag}; sleep 1000"), sh("b", "touch b"), meanwhile=cancel)
    assert states(run) == {"a": "cancelled", "b": "done"}
    assert (project.subjects(), project.worktrees(), project.branches()) == (["b"], [], [])


@pytest.mark.parametrize(
    "name", ["a..b", ".a", "-a", "a.", "a.lock", "a b~^:?*[\\", "ü", "a@{b", "x" * 300, "@", "a%2E"]
)
def test_any_id_gives_a_branch_that_git_takes(project: Project, name: str) -> None:
    branch = f"manyhands/{safe_name(name)}/{safe_name(name + '.1')}"
    assert project.git("check-ref-format", "--branch", branch) == branch


def test_different_ids_have_different_branches() -> None:
    names = ["a..b", "a.%2Eb", "a%2E.b", "x" * 300, "x" * 301, "a b", "a%20b"]
    assert len({safe_name(name) for name in names}) == len(names)


async def test_a_branch_kept_from_an_earlier_store_is_not_overwritten(project: Project) -> None:
    project.git("branch", "manyhands/plan-1/a.1")
    tip = project.git("rev-parse", "HEAD")
    run = await project.run(sh("a", "touch x"))
    assert states(run) == {"a": "done"}
    assert project.branches() == ["manyhands/plan-1/a.1"]
    assert project.git("rev-parse", "manyhands/plan-1/a.1") == tip


async def test_an_attempt_that_deletes_its_own_git_file_cannot_reach_the_project_around_it(project: Project) -> None:
    script = "rm .git; touch stray; git add --all && exit 7; git commit -qam oops && exit 8; true"
    run = await project.run(sh("a", script, attempts=1), sh("b", "touch b"))
    assert states(run) == {"a": "failed", "b": "done"}
    assert "not a git repository" in details(run, "a")[0]
    assert project.subjects() == ["b"]
    assert (project.changes(), project.worktrees()) == ("", [])
