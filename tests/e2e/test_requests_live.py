"""Cancel, retry, defer and resume from another process, with and without a run in progress."""

from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, sh, shell_host

HELD = "touch began-$MANYHANDS_TASK; while [ ! -e go ]; do sleep 0.02; done"


def states(console: Console) -> dict[str, str]:
    return {record.task.id: str(record.state) for record in console.book().runs["plan-1"].records.values()}


def has_begun(console: Console, *ids: str) -> bool:
    return all((console.directory / f"began-{id}").exists() for id in ids)


def test_a_running_task_is_cancelled_and_the_run_goes_on(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("stuck", "sleep 1000"), sh("held", HELD), sh("after", "exit 0", needs=["stuck"])])
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: has_begun(console, "held"), "a task at work")
    live.wait_until(lambda: states(console)["stuck"] == "running", "the other one too")
    done = console.run("task", "cancel", "stuck")
    assert (done.code, done.out) == (0, "")
    assert "task stuck of run plan-1 is being cancelled" in done.err
    live.wait_until(lambda: states(console)["stuck"] == "cancelled", "its end")
    assert states(console) == {"stuck": "cancelled", "held": "running", "after": "skipped"}
    (console.directory / "go").touch()
    ended = live.end()
    assert ended.code == 1
    assert "done 1 · failed 0 · cancelled 1 · skipped 1" in ended.out
    assert "cancelled  stuck" in ended.out
    assert "cancelled by a person" in ended.out


def test_retry_defer_and_resume_are_heard_by_a_run_that_goes_on(console: Console) -> None:
    console.config(shell_host(1))
    fails_first = "[ -e repaired ] || exit 7"
    console.plan([sh("bad", fails_first, attempts=1), sh("held", HELD), sh("later", "exit 0")])
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: has_begun(console, "held"), "the second task at work")
    assert "is being deferred" in console.run("task", "defer", "later").err
    live.wait_until(lambda: states(console)["later"] == "deferred", "the deferral")
    (console.directory / "repaired").touch()
    assert "is being retried" in console.run("task", "retry", "bad").err
    live.wait_until(lambda: states(console)["bad"] == "ready", "the second go")
    assert console.run("task", "explain", "bad").out.startswith("ready: waiting for a slot on local (1 of 1")
    assert "is being resumed" in console.run("task", "resume", "later").err
    live.wait_until(lambda: states(console)["later"] == "ready", "the resumption")
    (console.directory / "go").touch()
    ended = live.end()
    assert ended.code == 0
    assert "done       bad#2@local" in ended.err


def test_what_is_asked_while_nothing_runs_is_done_when_the_run_goes_on(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("bad", "[ -e repaired ] || exit 7", attempts=1), sh("next", "exit 0", needs=["bad"])])
    assert console.run("run", "plan.jsonl").code == 1
    asked = console.run("task", "retry", "bad")
    assert "will be retried when `manyhands run plan.jsonl` continues the run" in asked.err
    # What has been asked for shows at once, though nobody has acted on it.
    assert states(console) == {"bad": "ready", "next": "blocked"}
    assert "cannot be retried" in console.run("task", "retry", "bad").err
    assert console.run("task", "defer", "next").code == 0
    (console.directory / "repaired").touch()
    ended = console.run("run", "plan.jsonl")
    assert "run plan-1 continues: 0 of 2 tasks were finished" in ended.err
    # The first attempt after the retry is told like any other.
    assert "done       bad#2@local" in ended.err
    assert ended.code == 1
    assert "1 task is left that only a person can decide on: `manyhands task --run plan-1` says why" in ended.err
    assert console.run("task", "resume", "next").code == 0
    assert console.run("run", "plan.jsonl").code == 0
    assert states(console) == {"bad": "done", "next": "done"}
    assert console.run("run", "plan.jsonl", "-o", "json").json["run"] == "plan-1", "nothing is left to do"


def test_a_task_cancelled_while_nothing_runs_never_starts(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([sh("a", "touch a-ran", deferred=True), sh("b", "exit 0")])
    assert console.run("run", "plan.jsonl").code == 1
    assert console.run("task", "cancel", "a").code == 0
    ended = console.run("run", "plan.jsonl")
    assert ended.code == 1
    assert not (console.directory / "a-ran").exists()
    record = console.book().runs["plan-1"].records["a"]
    assert (record.state, record.history) == (TaskState.CANCELLED, None)
