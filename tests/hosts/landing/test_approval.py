"""Work that waits for approval before it lands: approved, sent back, rejected, and in the way of others."""

from pathlib import Path
from typing import Any

import pytest

from hosts.landing.project import Project, attempts, details, sh, states
from manyhands.core.events import WorkJudged
from manyhands.core.state import Run
from manyhands.core.values.question import Verdict
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import Conflict
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.store_view import View
from manyhands.surfaces.verbs.work_diff import work_diff

pytestmark = pytest.mark.slow


class Judging:
    """What a person decides, each time that the run rests."""

    def __init__(self, *verdicts: tuple[str, Verdict, str]) -> None:
        self._verdicts = verdicts

    async def __call__(self, dispatcher: Dispatcher) -> None:
        [run] = [one for one in dispatcher.book.runs.values() if one.ended_at is None]
        for task, verdict, words in self._verdicts:
            await dispatcher.wait_settled(run.name)
            question = run.records[task].question
            assert question is not None, details(run, task)
            at = dispatcher.clock.now()
            await dispatcher.submit(WorkJudged(at, run.name, task, question.commit, verdict, words, "Ann"))


def approved(task: str) -> tuple[str, Verdict, str]:
    return task, Verdict.APPROVED, ""


def commit_of(run: Run, task: str, number: int) -> str:
    ending = attempts(run, task)[number - 1].ending
    assert ending is not None
    assert ending.asks is not None
    return ending.asks.commit


@pytest.mark.parametrize("where", ["task", "host", "landing", "kind"])
async def test_work_waits_on_its_branch_whoever_asks_for_approval(project: Project, where: str) -> None:
    project.config(**({"approve": True} if where == "landing" else {}))
    if where in ("host", "kind"):
        line = "approve = true" if where == "host" else '[landing]\napprove_kinds = ["sh*"]'
        old, new = ("grace = 1", f"grace = 1\n{line}") if where == "host" else ("[landing]", line)
        project.write({"manyhands.toml": project.read("manyhands.toml").replace(old, new)})
    run = await project.run(sh("a", "echo a > a; echo b > b", approve=where == "task"), sh("idle", "true"))
    assert states(run) == {"a": "needs_person", "idle": "done"}, "what changed nothing need not be approved"
    assert run.records["a"].cause.why == "waits for approval: 2 files, +2 −0; outside its claims: a, b"
    assert project.subjects() == []
    assert project.branches() == ["manyhands/plan-1/a.1"]
    assert project.git("show", "manyhands/plan-1/a.1:b") == "b"
    assert project.worktrees() == []


async def test_approved_work_lands_as_it_was_seen(project: Project) -> None:
    project.config(approve=True)
    run = await project.run(sh("a", "echo a > a; date +%N >> a"), meanwhile=Judging(approved("a")))
    assert states(run) == {"a": "done"}
    assert project.git("rev-parse", "HEAD") == commit_of(run, "a", 1)
    assert (project.landed(), project.branches(), project.worktrees()) == (["a"], [], [])


async def test_approved_work_is_merged_and_checked_again_if_the_target_has_moved(project: Project) -> None:
    project.config(approve=True)

    async def moves_first(dispatcher: Dispatcher) -> None:
        await dispatcher.wait_settled("plan-1")
        project.commit({"new.txt": "x\n"}, "by a person")
        await Judging(approved("good"), approved("bad"))(dispatcher)

    check = ("sh", "-c", "echo checked >> ../../checks; ! test -e bad || ! test -e new.txt")
    run = await project.run(
        sh("good", "echo a > good", check=check),
        sh("bad", "echo a > bad", check=check, attempts=1),
        meanwhile=moves_first,
    )
    assert states(run) == {"good": "done", "bad": "failed"}
    assert project.subjects() == ["by a person", "good"]
    assert "check failed on top of what landed meanwhile" in details(run, "bad")[1]
    assert len((project.store / "worktrees" / "checks").read_text().split()) == 4, "each in its attempt and at landing"


async def test_work_that_is_sent_back_continues_in_the_same_worktree_with_the_words(project: Project) -> None:
    project.config(approve=True)
    script = 'pwd >> paths; printf "%s\\n" "${MANYHANDS_SENT_BACK-none}" >> words; echo x >> untracked'
    back = ("a", Verdict.SENT_BACK, "add a test")
    run = await project.run(
        sh("a", script, attempts=1), meanwhile=Judging(back, ("a", Verdict.SENT_BACK, "once more"), approved("a"))
    )
    assert states(run) == {"a": "done"}
    assert project.read("words").splitlines() == ["none", "add a test", "once more"]
    [path] = {*project.read("paths").splitlines()}
    assert Path(path).name == "a.1"
    assert project.subjects() == ["a"], "one commit, without those that went back"
    assert project.branches() == []


async def test_rejected_work_never_lands_and_stays_on_its_branch(project: Project) -> None:
    project.config(approve=True)
    tasks = (sh("a", "echo a > a"), sh("after", "echo b > b", needs=("a",)))
    run = await project.run(*tasks, meanwhile=Judging(("a", Verdict.REJECTED, "not wanted")))
    assert states(run) == {"a": "cancelled", "after": "skipped"}
    assert (project.subjects(), project.branches()) == ([], ["manyhands/plan-1/a.1"])


async def test_what_waits_holds_no_claims_and_a_conflict_at_landing_means_new_work(project: Project) -> None:
    project.config(approve=True)
    line = "sed -i 's/two/$MANYHANDS_TASK/' base.txt; echo $MANYHANDS_TASK >> base.txt".replace("'", '"')
    run = await project.run(
        sh("a", line, write=("base.txt",)),
        sh("b", line, write=("base.txt",)),
        meanwhile=Judging(approved("a"), approved("b"), approved("b")),
    )
    assert states(run) == {"a": "done", "b": "done"}
    said = details(run, "b")
    assert [one.partition(":")[0] for one in said] == ["done", "failed", "done", "done"]
    assert "conflict in base.txt" in said[1]
    assert project.subjects() == ["a", "b"]


@pytest.mark.parametrize("ends", ["check", "command"])
async def test_what_a_failed_attempt_did_can_be_read_and_leaves_no_branch(project: Project, ends: str) -> None:
    """It had committed nothing itself."""
    project.config()
    fields: dict[str, Any] = {"check": ("sh", "-c", "echo no; exit 3")} if ends == "check" else {}
    script = f"echo four >> base.txt; echo new > new.txt; {'exit 3' if ends == 'command' else 'true'}"
    run = await project.run(sh("a", script, attempts=1, **fields))
    assert states(run) == {"a": "failed"}
    found = work_diff(View(load_config(project.directory, environ={})), run.records["a"])
    assert [(one.path, one.added, one.removed) for one in found.files] == [("base.txt", 1, 0), ("new.txt", 1, 0)]
    assert "+four\n" in found.diff
    assert (found.state, found.attempt) == ("failed", 1)
    assert found.check_output == ("no" if ends == "check" else "")
    assert (project.branches(), project.worktrees(), project.subjects()) == ([], [], [])


async def test_a_failed_attempt_that_changed_nothing_has_no_diff(project: Project) -> None:
    project.config()
    run = await project.run(sh("a", "exit 3", attempts=1))
    with pytest.raises(Conflict, match="task `a` has no work in a worktree that was kept"):
        work_diff(View(load_config(project.directory, environ={})), run.records["a"])


async def test_the_diff_has_files_lines_and_what_the_check_printed(project: Project) -> None:
    project.config(approve=True)
    script = "echo '$ true'; echo four >> base.txt; printf '\\0' > blob"
    run = await project.run(sh("a", script, check=("sh", "-c", "echo two tests passed")))
    found = work_diff(View(load_config(project.directory, environ={})), run.records["a"])
    assert [(one.path, one.added, one.removed) for one in found.files] == [("base.txt", 1, 0), ("blob", None, None)]
    assert found.check_output == "two tests passed"
    assert "+four\n" in found.diff
    assert (found.attempt, found.commit, found.is_cut) == (1, commit_of(run, "a", 1), False)
