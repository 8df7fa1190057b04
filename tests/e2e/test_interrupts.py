"""Ctrl-C once, twice and three times, and SIGTERM, on real processes:

nothing is lost and the same command continues.
"""

import signal
from collections.abc import Iterator

import psutil
import pytest

from surfaces.cli.console import Console, Live, sh, shell_host

TASKS = [f"t{n}" for n in range(6)]
#: Says that it is there, and works until the file `go` is.
HELD = "echo $$ > pid-$MANYHANDS_TASK; while [ ! -e go ]; do sleep 0.05; done"
STUBBORN = f"trap '' TERM INT; {HELD}"


def started(console: Console) -> dict[str, int]:
    files = [file for file in console.directory.glob("pid-*") if file.stat().st_size]
    return {file.name.removeprefix("pid-"): int(file.read_text()) for file in files}


def begin(console: Console, script: str = HELD) -> Live:
    """A run with two of its six tasks at work."""
    console.config(shell_host(2, grace="300ms"))
    console.plan(sh(id, script) for id in TASKS)
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: len(started(console)) == 2, "two attempts at work")
    return live


def endings(console: Console) -> dict[str, list[str]]:
    """Of the tasks that were tried: how each attempt ended."""
    records = console.book().runs["plan-1"].records.values()
    return {r.task.id: [str(tried.ending.kind) for tried in r.history if tried.ending] for r in records if r.history}


def go_on(console: Console) -> None:
    """The same command takes the run up again and ends it."""
    (console.directory / "go").touch()
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert done.code == 0
    assert (done.json["run"], done.json["counts"]["done"]) == ("plan-1", len(TASKS))
    assert "run plan-1 continues" in done.err


def alive(pids: dict[str, int]) -> list[int]:
    return [pid for pid in pids.values() if is_alive(pid)]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE  # dead, and not buried by our init
    except psutil.NoSuchProcess:
        return False


def test_once_starts_nothing_more_and_waits_for_what_runs(console: Console) -> None:
    live = begin(console)
    before = started(console)
    live.interrupt()
    live.wait_for("stopping: waiting for 2 in flight; press Ctrl-C again to stop them too")
    assert len(alive(before)) == 2, "the terminal's Ctrl-C must not reach the attempts"
    (console.directory / "go").touch()
    done = live.end()
    assert done.code == 75
    assert "ready 4 · done 2 · failed 0" in done.out
    assert "4 tasks are left; the same command continues from here" in done.err
    assert started(console) == before
    go_on(console)
    assert all(kinds == ["done"] for kinds in endings(console).values())


def test_twice_stops_what_runs_and_that_costs_no_attempt(console: Console) -> None:
    live = begin(console)
    before = started(console)
    live.interrupt()
    live.wait_for("Ctrl-C again")
    live.interrupt()
    done = live.end()
    assert done.code == 75
    assert "stopping 2 in flight" in done.err
    assert alive(before) == []
    assert endings(console) == {id: ["preempted"] for id in before}
    go_on(console)
    after = endings(console)
    assert {id: after[id] for id in before} == {id: ["preempted", "done"] for id in before}


def test_a_third_time_is_no_worse(console: Console) -> None:
    live = begin(console, STUBBORN)
    before = started(console)
    for said in ("Ctrl-C again", "stopping 2 in flight", "already stopping"):
        live.interrupt()
        live.wait_for(said)
    assert live.end().code == 75
    assert alive(before) == []
    assert endings(console) == {id: ["preempted"] for id in before}
    go_on(console)


@pytest.fixture
def hang_ups_are_heard() -> Iterator[None]:
    """Also where these tests run under `nohup`, whose deafness every process inherits."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_ups_are_heard")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_is_as_twice(console: Console, number: signal.Signals) -> None:
    live = begin(console)
    before = started(console)
    live.process.send_signal(number)
    done = live.end()
    assert done.code == 75
    assert alive(before) == []
    assert endings(console) == {id: ["preempted"] for id in before}


def test_a_run_stopped_at_its_last_tasks_has_ended_as_they_did(console: Console) -> None:
    console.config(shell_host(2))
    console.plan([sh("good", HELD), sh("bad", f"{HELD}; exit 3", attempts=1)])
    live = console.start("run", "plan.jsonl")
    live.wait_until(lambda: len(started(console)) == 2, "two attempts at work")
    live.interrupt()
    live.wait_for("stopping")
    (console.directory / "go").touch()
    assert live.end().code == 1, "nothing is left to do"


def test_a_run_that_was_killed_does_not_go_on_under_the_name_of_another(console: Console) -> None:
    live = begin(console)
    before = started(console)
    live.process.kill()
    live.process.wait()
    console.plan([sh("other", "exit 0")], "other.jsonl")
    done = console.run("run", "other.jsonl")
    assert done.code == 0
    assert alive(before) == [], "what the dead dispatcher left behind is ended first"
    assert started(console) == before
    states = {run["run"]: run["counts"] for run in console.run("runs", "-o", "json").json}
    assert states["other-1"]["done"] == 1
    assert states["plan-1"]["ready"] == len(TASKS)
    assert console.run("task", "explain", "t0", "--run", "plan-1").out.startswith(
        "ready: no dispatcher is running; `manyhands run plan.jsonl` continues"
    )
    go_on(console)


def test_the_demo_can_be_stopped_and_leaves_nothing_to_do(console: Console) -> None:
    live = console.start("demo", "--mix", "--scale", "0.2")
    live.wait_for("done       text-1#1@writer")
    live.interrupt()
    live.wait_for("Ctrl-C again")
    live.interrupt()
    done = live.end()
    assert done.code == 75
    assert "error: the demo was stopped" in done.err
    assert done.out == ""
    runs = console.run("runs", "-o", "json").json
    assert [(run["run"], run["counts"]["ready"]) for run in runs] == [("demo-1", 0)]
