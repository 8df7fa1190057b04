"""A critical task may have preemptible attempts stopped: as many as it needs, no more, and only if that helps."""

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.commands import StopAttempt
from manyhands.core.values.ending import Ending, EndingKind

STOPPED = Ending(EndingKind.CANCELLED, "stopped")


def stopped(player: Player) -> list[str]:
    by_attempt = {event.attempt: event.task for event in player.journal if isinstance(event, ev.AttemptStarted)}
    return [by_attempt[command.attempt] for command in player.commands if isinstance(command, StopAttempt)]


def test_a_critical_task_takes_the_slot_of_the_youngest_and_least_urgent_preemptible_attempt() -> None:
    player = Player(a_host(width=3))
    player.open(
        a_task("old", preemptible=True),
        a_task("young", preemptible=True, priority=3),
        a_task("urgent", preemptible=True, priority=1),
    )
    player.add(a_task("critical", priority=0))
    assert stopped(player) == ["young"]
    assert player.state("young") == "running", "it is stopped when its ending is in"
    player.end("young", ending=STOPPED)
    assert sorted(player.running) == ["critical", "old", "urgent"]
    assert player.state("young") == "ready"


def test_a_preempted_attempt_does_not_count_and_the_next_is_told_of_it() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", preemptible=True, attempts=1))
    player.add(a_task("critical", priority=0))
    player.end("a", ending=STOPPED)
    commands = player.end("critical")
    assert player.running == ["a"]
    assert player.book.runs["r"].records["a"].tries == 0
    last = commands[0].last
    assert (last.kind, last.detail) == (EndingKind.PREEMPTED, "made way for critical")
    player.end("a")
    assert player.state("a") == "done"


def test_attempts_that_are_not_preemptible_are_left_alone() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b", priority=4))
    player.add(a_task("critical", priority=0))
    assert stopped(player) == []


def test_only_critical_tasks_preempt_and_never_each_other() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a", preemptible=True), a_task("c", preemptible=True, priority=0))
    player.add(a_task("urgent", priority=1))
    assert stopped(player) == []
    player.add(a_task("c2", priority=0), a_task("c3", priority=0))
    assert stopped(player) == ["a"]


def test_as_many_are_stopped_as_there_are_critical_tasks_without_a_slot_and_no_more() -> None:
    player = Player(a_host(width=5))
    player.open(*(a_task(f"t{n}", preemptible=True) for n in range(4)))
    player.add(*(a_task(f"c{n}", priority=0) for n in range(3)))
    assert player.running[-1] == "c0"
    assert stopped(player) == ["t3", "t2"]
    player.wait(1.0)
    player.add(a_task("other"))
    assert stopped(player) == ["t3", "t2"], "those on their way out are enough"
    player.end("t2", "t3", ending=STOPPED)
    assert sorted(player.running) == ["c0", "c1", "c2", "t0", "t1"]


def test_an_attempt_that_a_person_cancelled_is_on_its_way_out_too() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b", preemptible=True))
    player.play(ev.CancelAsked(player.at, "r", "a"))
    player.add(a_task("critical", priority=0))
    assert stopped(player) == ["a"]


def test_the_holders_of_claims_in_the_way_are_stopped_if_all_of_them_are_willing() -> None:
    player = Player(a_host(width=8))
    player.open(*(a_task(f"t{n}", preemptible=True, claims=writes(f"src/{n}")) for n in range(3)), a_task("apart"))
    player.add(a_task("critical", priority=0, claims=writes("src/**")))
    assert sorted(stopped(player)) == ["t0", "t1", "t2"]
    player.end("t0", "t1", "t2", ending=STOPPED)
    assert player.running == ["apart", "critical"]


def test_no_holder_is_stopped_in_vain_while_another_is_not_willing() -> None:
    player = Player(a_host(width=8))
    player.open(a_task("a", preemptible=True, claims=writes("src/a")), a_task("b", claims=writes("src/b")))
    player.add(a_task("critical", priority=0, claims=writes("src/**")))
    assert stopped(player) == []
    player.end("b")
    assert stopped(player) == ["a"]


def test_nobody_is_stopped_where_the_critical_task_waits_for_something_else() -> None:
    player = Player(a_host(width=3, lanes={"code": 1}))
    player.open(a_task("code"), a_task("text", kind="text", preemptible=True))
    player.add(a_task("critical", priority=0))
    for _ in range(3):
        player.wait(1.0)
    assert stopped(player) == []
    assert player.state("critical") == "ready"


def test_room_in_a_full_lane_is_made_in_that_lane() -> None:
    player = Player(a_host(width=2, lanes={"code": 1}))
    player.open(a_task("code", preemptible=True, priority=1), a_task("text", kind="text", preemptible=True, priority=4))
    player.add(a_task("critical", priority=0))
    assert stopped(player) == ["code"]


def test_room_under_a_runs_concurrency_is_made_in_that_run() -> None:
    player = Player(a_host(width=8))
    player.open(a_task("other", preemptible=True, priority=4), run="s")
    player.open(a_task("mine", preemptible=True), concurrency=1)
    player.add(a_task("critical", priority=0))
    assert stopped(player) == ["mine"]


def test_a_critical_barrier_stops_all_on_its_host_or_none() -> None:
    player = Player(a_host(width=3))
    player.open(a_task("a", preemptible=True), a_task("b", preemptible=True), a_task("c"))
    player.add(a_task("critical", priority=0, barrier=True))
    assert stopped(player) == []
    player.end("c")
    assert sorted(stopped(player)) == ["a", "b"]


def test_resources_are_freed_by_those_who_use_them() -> None:
    player = Player(a_host(width=8, resources={"gpu": 2.0}))
    player.open(
        a_task("gpu-1", preemptible=True, resources={"gpu": 1.0}),
        a_task("gpu-2", preemptible=True, resources={"gpu": 1.0}),
        a_task("cpu", preemptible=True, priority=4),
    )
    player.add(a_task("critical", priority=0, resources={"gpu": 1.0}))
    assert stopped(player) == ["gpu-2"]


def test_a_cancel_outweighs_a_preemption_that_is_under_way() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", preemptible=True))
    player.add(a_task("critical", priority=0))
    player.play(ev.CancelAsked(player.at, "r", "a"))
    assert stopped(player) == ["a"], "it is told once"
    player.end("a", ending=STOPPED)
    assert player.state("a") == "cancelled"


def test_an_attempt_that_is_done_before_it_could_be_stopped_is_done() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", preemptible=True))
    player.add(a_task("critical", priority=0))
    player.end("a")
    assert player.states(("a", "critical")) == ["done", "running"]
