"""How work done side by side comes together: merges, unions, conflicts, order, and what fail_fast keeps out."""

from pathlib import Path

import pytest

from hosts.landing.project import Project, attempts, details, sh, states, until
from manyhands.core.values.task import TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.hosts.landing.publishing import Moved, publish
from manyhands.hosts.landing.repository import find_repository
from manyhands.sources.config.landing_config import LandingConfig

#: Waits until as many as its argument have come here: they all started from the same state then.
MEET = (
    'touch "$DIR/$MANYHANDS_TASK"; n=0; while [ "$(ls "$DIR" | wc -l)" -lt {count} ];'
    " do n=$((n+1)); [ $n -gt 900 ] && exit 9; sleep 0.05; done; "
)


@pytest.fixture
def together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Script of two tasks that see nothing of each other."""
    (tmp_path / "met").mkdir()
    monkeypatch.setenv("DIR", str(tmp_path / "met"))
    return MEET.format(count=2)


async def test_changes_in_different_lines_of_a_file_come_together(project: Project, together: str) -> None:
    run = await project.run(
        sh("a", f"{together} sed -i s/one/ONE/ base.txt"), sh("b", f"{together} sed -i s/three/THREE/ base.txt")
    )
    assert states(run) == {"a": "done", "b": "done"}
    assert project.read("base.txt") == "ONE\ntwo\nTHREE\n"
    assert project.is_linear()
    assert [len(attempts(run, id)) for id in "ab"] == [1, 1]


async def test_a_conflict_is_an_ending_that_names_the_files_and_keeps_the_branch(
    project: Project, together: str
) -> None:
    tasks = [sh(id, f"{together} echo {id} > base.txt; echo {id} > new; touch own-{id}", attempts=1) for id in "ab"]
    run = await project.run(*tasks)
    lost = next(id for id in "ab" if states(run)[id] == "failed")
    branch = f"manyhands/plan-1/{lost}.1"
    assert sorted(states(run).values()) == ["done", "failed"]
    assert details(run, lost) == [
        f"failed: conflict in base.txt, new with what landed meanwhile; its work is on branch {branch}"
    ]
    assert project.branches() == [branch]
    assert project.git("show", f"{branch}:base.txt") == lost
    assert len(project.subjects()) == 1
    assert not (project.directory / f"own-{lost}").exists()
    assert (project.changes(), project.worktrees()) == ("", [])


async def test_the_attempt_after_a_conflict_starts_from_the_new_state(project: Project, together: str) -> None:
    run = await project.run(*(sh(id, f"{together} echo {id} >> base.txt") for id in "ab"))
    first, second = project.landed()
    assert project.read("base.txt") == f"one\ntwo\nthree\n{first}\n{second}\n"
    assert [len(attempts(run, first)), len(attempts(run, second))] == [1, 2]
    assert project.branches() == [f"manyhands/plan-1/{second}.1"]


async def test_append_claims_are_merged_by_union_and_other_files_are_not(project: Project, together: str) -> None:
    script = "{0} echo '- {1}' >> CHANGELOG.md; echo '{1}' > registry/list"
    append = ("CHANGELOG.md", "registry")
    run = await project.run(
        *(sh(id, f"mkdir -p registry; {script.format(together, id)}", append=append) for id in "ab")
    )
    assert states(run) == {"a": "done", "b": "done"}
    first, second = project.landed()
    assert project.read("CHANGELOG.md") == f"# Changes\n- {first}\n- {second}\n"
    assert project.read("registry/list") == f"{first}\n{second}\n"
    assert [len(attempts(run, id)) for id in "ab"] == [1, 1]


async def test_last_wins_takes_what_lands_last_where_it_conflicts_and_only_there(
    project: Project, together: str
) -> None:
    project.config(strategy="last-wins")
    many = "".join(f"{n}\n" for n in range(20))
    project.commit({"gone": "here\n", "binary": "\0base", "long": f"one\n{many}two\n{many}three\n"}, "more")
    both = f"{together} sed -i \"s/^two/two $MANYHANDS_TASK/\" long; printf '\\0%s' $MANYHANDS_TASK > binary; "
    run = await project.run(
        sh("a", both + "sed -i s/one/ONE/ long; rm gone"),
        sh("b", both + "sed -i s/three/THREE/ long; echo b > gone"),
    )
    assert states(run) == {"a": "done", "b": "done"}
    last = project.landed()[-1]
    assert project.read("long") == f"ONE\n{many}two {last}\n{many}THREE\n"
    assert project.read("binary") == f"\0{last}"
    assert (project.directory / "gone").exists() == (last == "b")
    assert project.is_linear()


async def test_fail_on_conflict_is_strict_about_files_and_final(project: Project, together: str) -> None:
    project.config(strategy="fail-on-conflict")
    run = await project.run(
        sh("a", f"{together} sed -i s/one/ONE/ base.txt; echo a >> CHANGELOG.md", append=("CHANGELOG.md",)),
        sh("b", f"{together} sed -i s/three/THREE/ base.txt; echo b >> CHANGELOG.md", append=("CHANGELOG.md",)),
    )
    lost = next(id for id in "ab" if states(run)[id] == "failed")
    assert sorted(states(run).values()) == ["done", "failed"]
    assert len(attempts(run, lost)) == 1
    assert details(run, lost)[0].startswith("failed: conflict in base.txt with")


async def test_sequential_lands_in_the_order_of_the_plan_whoever_is_ready_first(
    project: Project, together: str
) -> None:
    project.config(strategy="sequential")
    wait = 'while [ ! -e "$DIR/z-{0}" ]; do sleep 0.02; done; '
    done = 'touch {0} "$DIR/z-{0}"'
    run = await project.run(
        sh("first", wait.format("second") + "touch first"),
        sh("second", wait.format("third") + done.format("second")),
        sh("third", done.format("third")),
    )
    assert set(states(run).values()) == {"done"}
    assert project.landed() == ["first", "second", "third"]


async def test_the_check_must_pass_on_what_is_published_too(project: Project, together: str) -> None:
    """Each is good by itself, and the two together are not: whoever lands second must hear of it."""
    at_most = ("sh", "-c", 'test "$(ls part-* | wc -l)" -le 1')
    run = await project.run(*(sh(id, f"{together} touch part-{id}", check=at_most, attempts=1) for id in "ab"))
    lost = next(id for id in "ab" if states(run)[id] == "failed")
    assert details(run, lost)[0].startswith("failed: check failed on top of what landed meanwhile (exit 1)")
    assert len(project.subjects()) == 1
    assert project.branches() == [f"manyhands/plan-1/{lost}.1"]


async def test_the_second_check_can_be_left_out(project: Project, together: str) -> None:
    project.config(check=False)
    at_most = ("sh", "-c", 'test "$(ls part-* | wc -l)" -le 1')
    run = await project.run(*(sh(id, f"{together} touch part-{id}", check=at_most, attempts=1) for id in "ab"))
    assert states(run) == {"a": "done", "b": "done"}


async def test_what_another_has_landed_already_lands_once(project: Project, together: str) -> None:
    run = await project.run(*(sh(id, f"{together} echo same > base.txt") for id in "ab"))
    assert states(run) == {"a": "done", "b": "done"}
    assert len(project.subjects()) == 1
    second = next(id for id in "ab" if id not in project.landed())
    assert details(run, second) == ["done: `main` already has its changes"]
    assert project.branches() == []


async def test_fail_fast_keeps_what_was_under_way_out_of_the_branch(project: Project, tmp_path: Path) -> None:
    """`good` ends well, but only after `bad` has failed; `late` never starts."""
    flag = tmp_path / "bad-has-failed"

    async def tell(dispatcher: Dispatcher) -> None:
        await until(lambda: dispatcher.book.runs["plan-1"].counts[TaskState.FAILED])
        flag.touch()

    outlived = f'n=0; while [ ! -e "{flag}" ]; do n=$((n+1)); [ $n -gt 900 ] && exit 9; sleep 0.05; done; touch good'
    run = await project.run(
        sh("good", outlived),
        sh("bad", "touch bad; exit 1", attempts=1),
        sh("late", "touch late", needs=("good",)),
        fail_fast=True,
        meanwhile=tell,
    )
    assert states(run) == {"good": "cancelled", "bad": "failed", "late": "cancelled"}
    assert run.records["good"].cause.why == "fail_fast: bad failed"
    assert project.subjects() == []
    assert project.branches() == ["manyhands/plan-1/good.1"]
    assert project.worktrees() == []


async def test_the_target_moved_by_a_person_meanwhile_is_built_upon(
    project: Project, together: str, tmp_path: Path
) -> None:
    flag = tmp_path / "met" / "person"

    async def commit(_: object) -> None:
        await until((tmp_path / "met" / "a").exists)
        project.commit({"persons.txt": "mine\n"}, "by hand")
        flag.touch()

    run = await project.run(sh("a", f"{together} touch a"), meanwhile=commit)
    assert states(run) == {"a": "done"}
    assert project.subjects() == ["by hand", "a"]
    assert project.is_linear()


async def test_history_rewritten_meanwhile_brings_nothing_back(project: Project, together: str, tmp_path: Path) -> None:
    """The base of the merge is what the attempt started from, even if that is no longer in the target's history."""
    project.commit({"secret.txt": "oops\n"}, "to be taken out")

    async def rewrite(_: object) -> None:
        await until((tmp_path / "met" / "a").exists)
        project.git("reset", "--quiet", "--hard", "HEAD^")
        (tmp_path / "met" / "person").touch()

    run = await project.run(sh("a", f"{together} touch a"), meanwhile=rewrite)
    assert states(run) == {"a": "done"}
    assert project.subjects() == ["a"]
    assert not (project.directory / "secret.txt").exists()


def test_a_branch_that_somebody_moved_meanwhile_is_not_moved_back(project: Project) -> None:
    """It is checked out nowhere, so only the comparison by git itself keeps the other commit."""
    project.git("branch", "releases")
    repository = find_repository(project.directory, LandingConfig(target="releases"))
    before = repository.tip()
    ours = project.commit({"ours.txt": "ours"}, "ours")
    project.git("reset", "--quiet", "--hard", before)
    theirs = project.commit({"theirs.txt": "theirs"}, "theirs")
    project.git("branch", "--force", "releases", theirs)
    assert isinstance(publish(repository, before, ours, "refuse", "a task"), Moved)
    assert repository.tip() == theirs
