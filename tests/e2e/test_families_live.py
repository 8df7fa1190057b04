"""A family of tasks on a machine made of files: really snapshot, disrupted and reverted, with kills in the middle."""

import random
from pathlib import Path

import pytest

from journal_kills import last_event, wait_for_event
from manyhands.core.families import INTERRUPTIONS_MAX
from manyhands.core.values.task import TaskState
from surfaces.cli.console import Console, console, wait_until

__all__ = ["console"]

CONFIG = """
[store]
durability = "crash"
[hosts.local]
type = "shell"
width = 4
grace = "200ms"
[families.kernel]
host = "local"
snapshot = ["sh", "-c", "rm -rf saved.{round} && cp -r machine saved.{round}"]
disrupt = ["sh", "-c", "cp machine/written machine/running; echo . >> machine/boots"]
healthy = ["sh", "-c", "! grep -q poison machine/running"]
healthy_within = "2s"
revert = ["sh", "-c", "rm -rf machine && cp -r saved.{round} machine"]
on_failure = "bisect"
"""


#: About as many as one round has, with what undoes it.
EVENTS_OF_A_LIFE = 40


def machine(console: Console, members: list[str], pause: str = "true") -> None:
    console.config(CONFIG)
    (console.directory / "machine").mkdir()
    for name in ("written", "running", "boots"):
        (console.directory / "machine" / name).touch()
    console.plan(
        {
            "id": id,
            "run": ["sh", "-c", f"{pause}; echo {id} >> machine/written"],
            "check": ["grep", "-qx", id, "machine/running"],
            "claims": {"append": ["machine/written"]},
            "family": "kernel",
        }
        for id in members
    )


def running(directory: Path) -> list[str]:
    return (directory / "machine" / "running").read_text().split()


def test_the_one_that_does_harm_is_found_and_left_out(console: Console) -> None:
    machine(console, ["a", "b", "poison", "d", "e"])
    done = console.run("run", "plan.jsonl", "-o", "json")
    assert done.code == 1, done.err
    told = (done.json["tasks"], done.json["counts"]["done"], done.json["counts"]["failed"])
    assert told == (5, 4, 1), "of tasks of the plan, not of steps"
    assert sorted(running(console.directory)) == ["a", "b", "d", "e"]
    records = console.book().runs["plan-1"].records
    assert [records[id].state for id in ("a", "poison", "e")] == [TaskState.DONE, TaskState.FAILED, TaskState.DONE]
    assert "did not pass within 2 s" in console.run("task", "log", "kernel~1.healthy").out
    assert console.run("task", "log", "a").code == 0, "the output of a member is that of the step which did it"
    boots = len((console.directory / "machine" / "boots").read_text().split())
    assert boots < 5, "what was reverted leaves no trace, and sound members run together"


def test_a_family_the_config_does_not_have_is_named_before_anything_runs(console: Console) -> None:
    machine(console, ["a"])
    console.config(CONFIG.replace("families.kernel", "families.kernels"))
    refused = console.run("run", "plan.jsonl")
    assert refused.code == 2
    assert "`plan.jsonl` line 1: task `a` belongs to no family of the config" in refused.err
    assert "did you mean `kernels`?" in refused.err


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        ({"kind": "docs"}, "no host can take task `a`: host `local` does not take kind `docs`"),
        ({"host": "elsewhere"}, "task `a` wants host `elsewhere`, its family is done on `local`"),
        ({"workspace": "worktree"}, "task `a` has a worktree, and would land before its family was verified"),
    ],
)
def test_a_member_that_the_host_of_its_family_cannot_take_is_refused(
    console: Console, task: dict[str, str], wrong: str
) -> None:
    elsewhere = '[hosts.elsewhere]\ntype = "shell"\n'
    console.config(CONFIG.replace('type = "shell"', 'type = "shell"\nkinds = ["code"]') + elsewhere)
    console.plan([{"id": "a", "kind": "code", "run": ["true"], "family": "kernel", **task}])
    refused = console.run("run", "plan.jsonl")
    assert (refused.code, wrong in refused.err) == (2, True), refused.err


def test_a_person_puts_a_member_off_or_withdraws_it_and_steps_are_not_retried(console: Console) -> None:
    machine(console, ["a", "b", "c"], pause="while [ ! -e go ]; do sleep 0.05; done")
    live = console.start("run", "plan.jsonl")
    wait_until((console.directory / "saved.1").exists, "the first round")
    assert console.run("task", "defer", "c").code == 0
    assert console.run("task", "cancel", "b").code == 0
    wait_until(lambda: str(console.book().runs["plan-1"].records["b"].state) == "cancelled", "that it is heard")
    (console.directory / "go").touch()
    live.process.wait(60)
    assert sorted(running(console.directory)) == ["a"], "the round is reverted and repeated without the two"
    records = console.book().runs["plan-1"].records
    assert [str(records[id].state) for id in "abc"] == ["done", "cancelled", "deferred"]
    refused = console.run("task", "retry", "kernel~1.apply.b")
    assert "is a step of the family `kernel` and cannot be retried alone" in refused.err
    assert console.run("task", "resume", "c").code == 0
    assert console.run("run", "plan.jsonl").code in (0, 1)
    assert sorted(running(console.directory)) == ["a", "c"]


def test_another_run_is_told_that_a_host_is_in_the_middle_of_a_family(console: Console) -> None:
    machine(console, ["a"], pause="while [ ! -e go ]; do sleep 0.05; done")
    live = console.start("run", "plan.jsonl")
    wait_until((console.directory / "saved.1").exists, "the first round")
    live.process.kill()
    live.process.wait()
    (console.directory / "go").touch()
    console.plan([{"id": "x", "run": ["true"]}], "other.jsonl")
    other = console.start("run", "other.jsonl")
    other.wait_for("takes nothing else until family kernel of run plan-1 is finished")
    other.process.terminate()
    other.process.wait(60)
    assert console.run("run", "plan.jsonl").code == 0
    assert console.run("run", "other.jsonl").code == 0
    assert running(console.directory) == ["a"]
    assert "done and verified with its family kernel" in console.run("task", "show", "a", "--run", "plan-1").out


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_kills_in_the_middle_leave_the_machine_as_if_there_had_been_none(console: Console, seed: int) -> None:
    machine(console, ["a", "b", "poison", "d"], pause="sleep 0.1")
    draw = random.Random(seed)
    for _ in range(INTERRUPTIONS_MAX):  # after more of them in a row, a member is held to be the cause
        number = last_event(console.store) + draw.randint(1, EVENTS_OF_A_LIFE)
        live = console.start("run", "plan.jsonl")
        if not wait_for_event(live.process, console.store, number):
            break  # it was done before
        live.process.kill()
        live.process.wait()
    assert console.run("run", "plan.jsonl").code == 1, "whether something was left to do or not"
    assert sorted(running(console.directory)) == ["a", "b", "d"], "each once: nothing half done was kept"
    records = console.book().runs["plan-1"].records
    assert [records[id].state for id in ("a", "b", "d")] == [TaskState.DONE] * 3
    assert records["poison"].state is TaskState.FAILED
