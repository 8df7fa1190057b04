"""`manyhands serve` as people run it: killed, stopped, started again, and asked for things from another terminal."""

import json
import os
import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from apps.serve.at_work import hosts, read_issues, shell, write_issues, write_plan
from journal_kills import last_event, wait_for_event
from manyhands.core.values.task import TaskState
from sources.beads.backlog_files import row
from surfaces.cli.console import Console, Live, wait_until

IS_SOAK = os.environ.get("MANYHANDS_SOAK") == "1"
KILLS = 30 if IS_SOAK else 3
ISSUES = 200 if IS_SOAK else 24

CONFIG = """
[hosts.local]
type = "shell"
width = 3
grace = "200ms"
[[backlogs]]
beads = "."
claims = {}
run = ["sh", "-c", "echo $MANYHANDS_TASK >> ran.txt; sleep 0.1; echo $MANYHANDS_TASK >> finished.txt"]
"""


def start(console: Console, *arguments: str) -> Live:
    live = console.start("serve", "--port", "0", *arguments)
    live.wait_for("action=serving")
    return live


def words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def all_closed(console: Console) -> bool:
    return all(each["status"] == "closed" for each in read_issues(console.directory).values())


@pytest.mark.slow
def test_killed_in_mid_run_again_and_again_nothing_acknowledged_is_done_twice(console: Console) -> None:
    console.config(CONFIG)
    chance = random.Random(4)
    write_issues(console.directory, *(row(f"p-{n}") for n in range(ISSUES)))
    done_before: set[str] = set()
    runs_of_done: Counter[str] = Counter()
    for kill in range(KILLS):
        live = start(console)
        target = ISSUES * (kill + 1) // (KILLS + 1)
        wait_until(lambda target=target: len(words(console.directory / "finished.txt")) >= target, "some work")
        number = last_event(console.store) + chance.randrange(8)
        wait_for_event(live.process, console.store, number, unless=lambda: all_closed(console))
        live.process.kill()
        live.process.wait()
        records = next(iter(console.book().runs.values())).records
        done = {id for id, record in records.items() if record.state is TaskState.DONE}
        assert done_before <= done
        ran = Counter(words(console.directory / "ran.txt"))
        assert {id: ran[id] for id in done_before} == {id: runs_of_done[id] for id in done_before}
        done_before, runs_of_done = done, ran
    live = start(console)
    wait_until(lambda: all_closed(console), "the end")
    live.process.terminate()
    assert live.end().code == 0
    ran = Counter(words(console.directory / "ran.txt"))
    assert all(ran[id] == runs_of_done[id] for id in done_before)
    for id, each in read_issues(console.directory).items():
        assert each["closed_at"], id
        assert str(each["notes"]).count("manyhands ") == 1, "written back once"


def test_sigterm_stops_gracefully_and_a_new_serve_goes_on(console: Console) -> None:
    hosts(console.directory, 2)
    hold = "echo $MANYHANDS_TASK >> ran.txt; [ -e go ] || sleep 1000"
    write_plan(console.directory, [shell("a", hold), shell("b", hold), shell("c", hold)])
    live = start(console, "--plan", "plan.jsonl")
    wait_until(lambda: sorted(words(console.directory / "ran.txt")) == ["a", "b"], "two at work")
    live.process.send_signal(signal.SIGTERM)
    ended = live.end()
    assert (ended.code, ended.out) == (0, "")
    assert 'action=stopping detail="2 in flight"' in ended.err
    (console.directory / "go").touch()
    again = start(console, "--plan", "plan.jsonl")

    def states() -> list[str]:
        return [str(record.state) for record in console.book().runs["plan-1"].records.values()]

    wait_until(lambda: states() == ["done"] * 3, "all to be done")
    again.interrupt()
    assert again.end().code == 0
    assert [len(record.history or ()) for record in console.book().runs["plan-1"].records.values()] == [2, 2, 1]


def test_tasks_are_added_cancelled_and_retried_while_it_runs(console: Console) -> None:
    hosts(console.directory, 1)
    write_plan(console.directory, [shell("held", "while [ ! -e go ]; do sleep 0.02; done"), shell("later")])
    live = start(console, "--plan", "plan.jsonl")
    wait_until(lambda: "action=started task=held" in live.err, "a task at work")
    assert "is being cancelled" in console.run("task", "cancel", "later").err
    added = console.run("add", "--id", "one", "--run", "touch 'made by one'", "--priority", "0")
    assert (added.code, "1 task added to run added" in added.err) == (0, True)
    write_plan(console.directory, [shell("x"), shell("y", needs=["x"])], "more.jsonl")
    assert console.run("add", "more.jsonl", "--to", "plan-1", "-o", "ids").ids == ["x", "y"]
    assert "has a task `x` already" in console.run("add", "more.jsonl", "--to", "plan-1").err
    (console.directory / "go").touch()

    def states() -> dict[str, str]:
        return {id: str(record.state) for run in console.book().runs.values() for id, record in run.records.items()}

    wanted = {"held": "done", "later": "cancelled", "one": "done", "x": "done", "y": "done"}
    wait_until(lambda: states() == wanted, "the end")
    assert (console.directory / "made by one").exists()
    # A look at the plan does not take away what was added by hand.
    write_plan(console.directory, [shell("held"), shell("later"), shell("last")])
    wait_until(lambda: states().get("last") == "done", "what the plan gained")
    assert "is being retried" in console.run("task", "retry", "later").err
    wait_until(lambda: states()["later"] == "done", "the retried one")
    live.process.terminate()
    assert live.end().code == 0


def test_what_is_added_while_nothing_runs_is_done_by_the_next_serve(console: Console) -> None:
    hosts(console.directory, 1)
    added = console.run("add", "--id", "early", "--run", "true")
    assert (added.code, "`manyhands serve` will run" in added.err) == (0, True)
    assert console.run("task", "cancel", "early").code == 0
    assert console.run("task", "retry", "early").code == 0
    write_plan(console.directory, [shell("a")])
    live = start(console, "--plan", "plan.jsonl")
    wait_until(lambda: console.book().runs["added"].records["early"].state is TaskState.DONE, "the task")
    live.process.terminate()
    assert live.end().code == 0


def test_wrong_use_is_refused_with_a_reason_and_leaves_nothing(console: Console) -> None:
    hosts(console.directory, 1)
    cases = {
        ("serve", "--beads", "nowhere"): "there is no directory",
        ("serve", "--plan", "nowhere/plan.toml"): "there is no directory",
        ("add",): "give either plan files or the fields of one task",
        ("add", "--id", "a"): "the task has nothing to run",
        ("add", "--id", "a", "--call", "m:f"): "no host can take task `a`",
        ("add", "--id", "a", "--run", "'"): "is not a command that can be split into words",
        ("add", "--id", "a", "--run", "true", "--needs", "b"): "has no such task",
        ("add", "--id", "a", "--run", "true", "--to", "r"): "there is no run `r`",
    }
    for arguments, complaint in cases.items():
        done = console.run(*arguments)
        assert (done.code, done.out) == (2, ""), (arguments, done)
        assert complaint in done.err, (arguments, done.err)
    assert not console.store.exists()


def test_the_config_names_backlogs_and_says_where(console: Console) -> None:
    console.config(CONFIG)
    listed = {each["setting"]: each for each in console.run("config", "-o", "json").json}
    assert listed["backlogs.0"]["value"]["beads"] == "."
    assert "manyhands.toml line" in listed["backlogs.0"]["from"]
    console.config('[[backlogs]]\nplan = "a.toml"\nbeads = "."\n[[backlogs]]\nplan = "b"\nweight = -1\n')
    done = console.run("config")
    assert done.code == 2
    assert "a backlog has exactly one of plan, beads, redis, postgres, github, markdown" in done.err
    assert "`backlogs[1].weight`" in done.err or "backlogs.1.weight" in done.err, done.err
    assert json.dumps(done.out) == '""'
