"""`manyhands run` typed again after the plan was edited: what is done stays done, the rest is brought up to date."""

import subprocess
from typing import Any

from surfaces.cli.console import Console, Done, sh


def wrote(console: Console) -> list[str]:
    """What ran, in order."""
    file = console.directory / "ran"
    return file.read_text().split() if file.exists() else []


def says(id: str, word: str = "", **fields: Any) -> dict[str, Any]:
    return sh(id, f"echo {word or id} >> ran", **fields)


def fails(id: str, **fields: Any) -> dict[str, Any]:
    return sh(id, f"echo {id} >> ran; exit 1", attempts=1, **fields)


def run(console: Console, *arguments: str) -> Done:
    return console.run("run", "plan.jsonl", *arguments)


def states(console: Console) -> dict[str, str]:
    return {row["task"]: row["state"] for row in console.run("task", "-o", "json").json}


def test_the_same_command_after_the_end_does_nothing_and_says_so(console: Console) -> None:
    console.plan([says("a")])
    assert run(console).code == 0
    again = run(console)
    assert again.code == 0
    assert "nothing to do" in again.err
    assert "`--again` runs all of it again" in again.err
    assert wrote(console) == ["a"]
    assert [row["run"] for row in console.run("runs", "-o", "json").json] == ["plan-1"]
    assert run(console, "--again").code == 0
    assert wrote(console) == ["a", "a"]
    assert [row["run"] for row in console.run("runs", "-o", "json").json] == ["plan-2", "plan-1"]


def test_a_failed_task_that_was_edited_runs_again_with_what_needs_it(console: Console) -> None:
    console.plan([says("a"), fails("b", needs=["a"]), says("c", needs=["b"])])
    assert run(console).code == 1
    left = run(console)
    assert left.code == 1
    assert "1 task is failed and not edited since: b" in left.err
    assert "`manyhands task retry --state failed --run plan-1`" in left.err
    console.plan([says("a"), says("b", "repaired", needs=["a"]), says("c", "C", needs=["b"])])
    fixed = run(console)
    assert fixed.code == 0
    assert "run plan-1 continues: 3 of 3 tasks were finished" in fixed.err
    assert "2 tasks are changed: b, c" in fixed.err
    assert wrote(console) == ["a", "b", "repaired", "C"]


def test_a_done_task_runs_again_if_its_work_was_edited_and_not_if_its_place_was(console: Console) -> None:
    console.plan([says("a"), says("b", needs=["a"])])
    assert run(console).code == 0
    console.plan([says("a", priority=0, title="First", timeout=60), says("b", needs=["a"])])
    assert "nothing to do" in run(console).err
    console.plan([says("a", "A"), says("b", needs=["a"]), says("c", needs=["a"])])
    edited = run(console)
    assert edited.code == 0, edited.err
    assert "1 task is changed: a" in edited.err
    assert "1 task is new: c" in edited.err
    assert wrote(console) == ["a", "b", "A", "c"]


def test_a_task_that_left_the_plan_is_named_and_no_longer_counts(console: Console) -> None:
    console.plan([says("a"), fails("b"), says("later", deferred=True)])
    assert run(console).code == 1
    console.plan([says("a")])
    left = run(console)
    assert left.code == 0
    assert "2 tasks are no longer in the plan: b, later" in left.err
    assert states(console) == {"a": "done", "b": "failed", "later": "cancelled"}
    console.plan([says("a"), says("later")])
    assert run(console).code == 0
    assert sorted(wrote(console)) == ["a", "b", "later"]


def test_an_attempt_at_edited_work_is_not_told_of_the_attempts_before(console: Console) -> None:
    tell = 'echo "[$MANYHANDS_LAST_ENDING]" >> ran; '
    console.plan([sh("a", tell + "exit 1", attempts=1)])
    assert run(console).code == 1
    console.plan([sh("a", tell + "exit 0", attempts=1)])
    assert run(console).code == 0
    assert wrote(console) == ["[]", "[]"]


def test_only_runs_what_matches_and_what_that_needs_and_the_rest_waits(console: Console) -> None:
    plan = [says("base"), says("auth-1", needs=["base"]), says("auth-2"), says("docs"), says("more", needs=["docs"])]
    console.plan(plan)
    only = run(console, "--only", "auth-*")
    assert only.code == 0
    assert sorted(wrote(console)) == ["auth-1", "auth-2", "base"]
    wrong = run(console, "--only", "atuh-1")
    assert (wrong.code, "did you mean `auth-1`?" in wrong.err) == (2, True)
    assert run(console).code == 0
    assert sorted(wrote(console)) == ["auth-1", "auth-2", "base", "docs", "more"]


def test_only_leaves_the_rest_of_a_stopped_run_for_later(console: Console) -> None:
    console.plan([says("a", deferred=True), says("b"), says("c", deferred=True), says("d", needs=["c"])])
    assert run(console).code == 1
    console.plan([says("a"), says("b"), says("c"), says("d", needs=["c"])])
    assert run(console, "--only", "a").code == 0
    assert wrote(console) == ["b", "a"]
    assert run(console).code == 0
    assert wrote(console) == ["b", "a", "c", "d"]


def test_a_dry_run_tells_order_host_and_reasons_and_changes_nothing(console: Console) -> None:
    console.config('[hosts.one]\ntype = "shell"\nwidth = 1\n')
    console.plan([says("late", priority=4), says("first", priority=0), says("off", deferred="after the release")])
    told = run(console, "--dry-run", "-o", "json")
    assert told.code == 0
    assert [(row["order"], row["task"], row["host"]) for row in told.json] == [
        (1, "first", "one"),
        (2, "late", "one"),
        (None, "off", None),
    ]
    assert "after the release" in told.json[2]["why"]
    assert "one" in told.json[1]["why"]
    assert not console.store.exists()
    assert run(console).code == 1
    journal = (console.store / "journal.db").read_bytes()
    again = run(console, "--dry-run")
    assert "0 would start, 0 of them at once · 1 would not" in again.out
    assert (console.store / "journal.db").read_bytes() == journal


def test_a_dry_run_follows_needs_to_the_end(console: Console) -> None:
    console.plan([says("c", needs=["b"]), says("b", needs=["a"]), says("a")])
    told = run(console, "--dry-run", "-o", "ids")
    assert told.ids == ["a", "b", "c"]
    assert wrote(console) == []


def test_many_tasks_are_retried_by_state_and_by_glob(console: Console) -> None:
    console.plan([fails("auth-1"), fails("auth-2"), fails("docs"), says("good")])
    assert run(console).code == 1
    asked = console.run("task", "retry", "auth-*", "--state", "failed")
    assert "2 tasks of run plan-1 will be retried when `manyhands run plan.jsonl` continues the run" in asked.err
    assert states(console) == {"auth-1": "ready", "auth-2": "ready", "docs": "failed", "good": "done"}
    assert run(console).code == 1
    attempts = {row["task"]: (row["attempt"], row["attempts"]) for row in console.run("task", "-o", "json").json}
    assert attempts == {"auth-1": (2, 2), "auth-2": (2, 2), "docs": (1, 1), "good": (1, 3)}
    assert sorted(wrote(console)) == ["auth-1", "auth-1", "auth-2", "auth-2", "docs", "good"]
    assert "3 tasks of run plan-1 will be retried" in console.run("task", "retry", "--state", "failed").err
    nothing = console.run("task", "retry", "z*")
    assert (nothing.code, "no task of run plan-1 matches `z*`" in nothing.err) == (2, True)
    sane = console.run("task", "retry", "go*")
    assert (sane.code, "no task that matches `go*` can be retried; their state: done" in sane.err) == (2, True)
    assert "no task is named to retry" in console.run("task", "retry").err
    assert "did you mean `failed`?" in console.run("task", "retry", "--state", "faild").err


def test_edited_work_in_a_worktree_lands_again(console: Console) -> None:
    for words in ("init -q", "commit -q --allow-empty -m first"):
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@x", *words.split()]
        subprocess.run(git, cwd=console.directory, check=True)
    for word in ("one", "two"):
        console.plan([sh("a", f"echo {word} > said", workspace="worktree")])
        done = run(console)
        assert done.code == 0, done.err
        assert (console.directory / "said").read_text() == f"{word}\n"


def test_the_review_tells_why_a_done_task_ran_again(console: Console) -> None:
    console.plan([says("a")])
    assert run(console).code == 0
    console.plan([says("a", "A")])
    assert run(console).code == 0
    told = console.run("review", "-o", "json").json
    decisions = {one["what"]: one["why"] for one in told["decisions"]}
    assert decisions["retried"] == "it was done, and its plan has changed"
    assert "width" not in decisions, "the host begins anew, and nobody decided that"
