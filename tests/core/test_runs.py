"""Runs as a whole: they drain, stop, continue, fail fast, are cancelled, and say once that they have come to rest."""

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.commands import RunEnded, StopAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Rule

FAILED = Ending(EndingKind.FAILED, "exit 1", permanent=True)
STOPPED = Ending(EndingKind.CANCELLED, "stopped")


def rests(player: Player) -> int:
    return sum(isinstance(command, RunEnded) for command in player.commands)


def test_a_run_says_once_that_all_its_tasks_have_ended() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"), a_task("c", needs=("a",)))
    player.end("a", "b")
    assert rests(player) == 0
    player.end("c")
    assert rests(player) == 1
    player.wait(10.0)
    player.play(ev.HostPaused(player.at, "local"))
    assert rests(player) == 1
    assert player.book.runs["r"].ended_at == 2.0


def test_a_run_that_is_given_more_comes_to_rest_again() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a")
    player.add(a_task("b"))
    assert rests(player) == 1
    player.end("b")
    assert rests(player) == 2


def test_a_run_rests_when_only_a_person_can_move_it() -> None:
    player = Player()
    player.open(a_task("a"), a_task("put-off", deferred=True), a_task("behind", needs=("put-off",)))
    player.end("a")
    assert rests(player) == 1
    player.play(ev.ResumeAsked(player.at, "r", "put-off"))
    player.run_to_end()
    assert rests(player) == 2
    assert player.book.runs["r"].counts["done"] == 3


def test_a_run_does_not_rest_while_something_waits_out_a_delay() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=Ending(EndingKind.FAILED))
    assert rests(player) == 0


def test_a_drained_run_starts_nothing_more_and_what_runs_settles() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}") for n in range(4)))
    player.play(ev.RunDrained(player.at, "r"))
    player.end("t0")
    assert player.running == ["t1"]
    assert rests(player) == 0
    player.end("t1")
    assert rests(player) == 1
    assert player.states(("t2", "t3")) == ["ready", "ready"]
    player.play(ev.RunResumed(player.at, "r"))
    assert player.running == ["t2", "t3"]
    player.run_to_end()
    assert rests(player) == 2


def test_a_stopped_run_stops_what_runs_without_counting_it_and_can_go_on() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}", attempts=1) for n in range(3)))
    player.open(a_task("other"), run="s")
    commands = player.play(ev.RunStopped(player.at, "r"))
    assert [type(command) for command in commands] == [StopAttempt, StopAttempt]
    player.end("t0", "t1", ending=STOPPED)
    assert player.running == ["other"]
    assert player.states(("t0", "t1", "t2")) == ["ready"] * 3
    assert rests(player) == 1
    player.play(ev.RunResumed(player.at, "r"))
    player.run_to_end()
    assert player.book.runs["r"].counts["done"] == 3


def test_fail_fast_cancels_what_waits_and_lets_what_runs_settle() -> None:
    player = Player(a_host(width=3))
    player.open(
        a_task("done"),
        a_task("bad"),
        a_task("running"),
        a_task("waiting"),
        a_task("behind", needs=("running",)),
        a_task("behind-bad", needs=("bad",)),
        a_task("off", deferred=True),
        fail_fast=True,
    )
    player.end("done")
    player.play(ev.DeferAsked(player.at, "r", "waiting"))
    player.end("bad", ending=FAILED)
    assert player.states(("done", "running", "behind", "behind-bad", "off")) == [
        "done",
        "running",
        "cancelled",
        "skipped",
        "cancelled",
    ]
    assert player.cause("behind") == "fail_fast: bad failed"
    player.end(*player.running)
    assert player.states(("done", "running")) == ["done", "done"]
    assert rests(player) == 1


def test_without_fail_fast_the_others_go_on() -> None:
    player = Player()
    player.open(a_task("bad"), a_task("good"))
    player.end("bad", ending=FAILED)
    assert player.running == ["good"]


def in_every_state() -> Player:
    """Tasks named for the state they are in."""
    player = Player(a_host(width=1), rules=(Rule("audit", "text", 0),))
    player.open(
        a_task("done", priority=0),
        a_task("failed", priority=0),
        a_task("skipped", needs=("failed",)),
        a_task("backoff", priority=1),
        a_task("running", priority=2),
        a_task("ready", priority=3),
        a_task("blocked", needs=("ready",)),
        a_task("deferred", deferred=True),
        a_task("held", kind="audit"),
        a_task("text", kind="text", priority=4),
    )
    player.end("failed", ending=FAILED)
    player.end("done")
    player.end("backoff", ending=Ending(EndingKind.FAILED), after_s=0.0)
    for state in ("done", "failed", "skipped", "backoff", "running", "ready", "blocked", "deferred"):
        assert player.state(state) == state
    assert player.state("held") == "deferred"
    return player


@pytest.mark.parametrize("id", ["backoff", "ready", "blocked", "deferred", "held"])
def test_a_waiting_task_is_cancelled_at_once_and_never_starts(id: str) -> None:
    player = in_every_state()
    player.play(ev.CancelAsked(player.at, "r", id, "no longer wanted"))
    assert (player.state(id), player.cause(id)) == ("cancelled", "no longer wanted")
    player.wait(100.0)
    started = len(player.started)
    player.run_to_end()
    assert id not in player.started[started:]


def test_a_running_task_is_cancelled_when_its_attempt_has_stopped_and_what_hangs_on_it_is_skipped() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b", needs=("a",)))
    commands = player.play(ev.CancelAsked(player.at, "r", "a"))
    assert commands == [StopAttempt(1)]
    assert player.play(ev.CancelAsked(player.at, "r", "a")) == []
    player.end("a", ending=STOPPED)
    assert player.states("ab") == ["cancelled", "skipped"]
    assert rests(player) == 1


@pytest.mark.parametrize("id", ["done", "failed", "skipped"])
def test_an_ended_task_cannot_be_cancelled(id: str) -> None:
    player = in_every_state()
    player.play(ev.CancelAsked(player.at, "r", id))
    assert player.state(id) == id


def test_cancelling_a_run_leaves_finished_tasks_alone() -> None:
    player = in_every_state()
    player.play(ev.CancelAsked(player.at, "r"))
    player.end("running", ending=STOPPED)
    records = player.book.runs["r"].records.values()
    assert {record.task.id: str(record.state) for record in records} == {
        "done": "done",
        "failed": "failed",
        "skipped": "skipped",
        **dict.fromkeys(("backoff", "running", "ready", "blocked", "deferred", "held", "text"), "cancelled"),
    }
    assert rests(player) == 1


def test_cancelling_a_run_of_many_equal_tasks_costs_one_look_at_each() -> None:
    player = Player()
    player.scheduler.handle(
        [ev.RunOpened(0.0, "r"), ev.TasksSubmitted(0.0, "r", tuple(a_task(f"t{n}") for n in range(50_000)))]
    )
    player.scheduler.handle([ev.CancelAsked(1.0, "r")])
    assert player.book.runs["r"].counts["cancelled"] == 49_999


@pytest.mark.parametrize("id", ["backoff", "ready", "blocked", "held"])
def test_a_waiting_task_can_be_put_off_and_let_go_again(id: str) -> None:
    player = in_every_state()
    player.play(ev.DeferAsked(player.at, "r", id))
    assert (player.state(id), player.cause(id)) == ("deferred", "deferred by a person")
    player.wait(100.0)
    assert player.state(id) == "deferred"
    player.play(ev.ResumeAsked(player.at, "r", id))
    player.run_to_end()
    player.wait(100.0)
    player.run_to_end()
    assert player.state(id) == "done"


def test_putting_off_a_running_or_ended_task_changes_nothing() -> None:
    player = in_every_state()
    player.play(ev.DeferAsked(player.at, "r", "running"), ev.DeferAsked(player.at, "r", "done"))
    assert player.states(("running", "done")) == ["running", "done"]


def test_a_task_cancelled_in_the_same_breath_as_it_is_submitted_never_starts() -> None:
    player = Player()
    player.play(
        ev.RunOpened(0.0, "r"),
        ev.TasksSubmitted(0.0, "r", (a_task("a"), a_task("b"))),
        ev.CancelAsked(0.0, "r", "a"),
    )
    assert player.started == ["b"]


def test_wishes_about_what_nobody_knows_change_nothing() -> None:
    player = Player()
    player.open(a_task("a"))
    for event in (ev.CancelAsked, ev.RetryAsked, ev.DeferAsked, ev.ResumeAsked):
        player.play(event(0.0, "r", "nobody"), event(0.0, "nothing", "a"))
    for event in (ev.RunDrained, ev.RunStopped, ev.RunResumed):
        player.play(event(0.0, "nothing"))
    player.play(ev.HostPaused(0.0, "nowhere"), ev.HostResumed(0.0, "nowhere"), ev.WidthSet(0.0, "nowhere", 3))
    assert player.running == ["a"]


def test_a_run_that_has_ended_leaves_nothing_behind_among_the_ready() -> None:
    player = Player(a_host(width=4))
    for n in range(20):
        player.open(*(a_task(f"t{i}", claims=writes(f"src/{i}"), kind=f"k{i}") for i in range(3)), run=f"run{n}")
        player.run_to_end()
    ready = player.book.ready
    assert (ready.pools, ready.groups, ready.reservations, ready.critical, ready._parked, ready._demand) == (
        {},
        {},
        [],
        {},
        {},
        {},
    )
