"""Agents that come by themselves: who gets which task, and what becomes of a task whose agent is not heard of."""

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import HandIn, RunEnded, StopAttempt
from manyhands.core.explain import explain
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.provenance import Origin

LEASE_S = 60.0


def a_player(width: int = 4, **fields: object) -> Player:
    return Player(a_host("pulls", width=width, lease_s=LEASE_S, **fields))


def want(player: Player, *pullers: str, wait_s: float = 30.0, **fields: object) -> None:
    player.play(*(ev.WorkWanted(player.at, "pulls", one, player.at + wait_s, **fields) for one in pullers))  # type: ignore[arg-type]


def holders(player: Player) -> dict[str, str]:
    """Task → the agent that has it in its hands."""
    return {one.record.task.id: one.lease.puller for one in player.book.running.values() if one.lease is not None}


def hand_in(player: Player, task: str, ending: Ending = DONE, puller: str = "") -> list[object]:
    attempt = player.attempt_of(task)
    return [*player.play(ev.WorkHandedIn(player.at, attempt, puller or holders(player)[task], ending))]


def why(player: Player, task: str) -> list[str]:
    return explain(player.book, player.book.runs["r"].records[task], player.at)


def test_nothing_starts_until_an_agent_asks_and_the_first_to_ask_gets_the_most_urgent() -> None:
    player = a_player()
    player.open(a_task("later"), a_task("first", priority=0))
    assert player.running == []
    assert why(player, "later") == ["no agent asks pulls for a task of kind code"]
    want(player, "ann", "bob")
    assert holders(player) == {"first": "ann", "later": "bob"}


def test_an_agent_gets_only_the_kinds_that_it_asks_for_and_only_what_may_run() -> None:
    player = a_player()
    player.open(a_task("x", kind="docs"), a_task("y", claims=writes("a")), a_task("z", claims=writes("a")))
    want(player, "ann", kinds=("co*",))
    want(player, "bob", kinds=("code",))
    assert holders(player) == {"y": "ann"}, "z waits for its claim, x is not of a kind that anyone asked for"
    assert why(player, "x") == ["no agent asks pulls for a task of kind docs; 1 waits for other tasks"]
    hand_in(player, "y")
    player.end("y")
    assert holders(player) == {"z": "bob"}


def test_the_width_of_the_host_holds_for_agents_too() -> None:
    player = a_player(width=1)
    player.open(a_task("a"), a_task("b"))
    want(player, "ann", "bob")
    assert len(holders(player)) == 1
    assert "waiting for a slot on pulls (1 of 1" in why(player, "b")[0]


def test_an_agent_that_asks_again_has_one_task_and_an_old_wish_is_dropped() -> None:
    player = a_player()
    player.open(a_task("a"))
    want(player, "ann")
    want(player, "ann")
    assert player.book.hosts["pulls"].wishes == {}
    want(player, "bob", wait_s=5.0)
    player.wait(5.0)
    assert player.book.hosts["pulls"].wishes == {}
    player.add(a_task("b"))
    assert holders(player) == {"a": "ann"}


def test_a_lease_that_ran_out_is_lost_and_what_comes_late_changes_nothing() -> None:
    player = a_player()
    player.open(a_task("a", attempts=1))
    want(player, "ann")
    attempt = player.attempt_of("a")
    player.wait(LEASE_S - 1.0)
    assert player.running == ["a"]
    assert StopAttempt(attempt) in player.wait(1.0)
    assert player.play(ev.WorkHandedIn(player.at, attempt, "ann", DONE)) == []
    player.end("a", ending=Ending(EndingKind.CANCELLED, "stopped"), after_s=0.0)
    record = player.book.runs["r"].records["a"]
    assert record.last_ending is not None
    assert record.last_ending.kind is EndingKind.LOST
    assert record.last_ending.detail == "its lease ran out: nothing was heard of ann for 60 s"
    assert record.tries == 0, "it costs the task no attempt"
    want(player, "bob")
    assert holders(player) == {"a": "bob"}
    assert player.play(ev.WorkHandedIn(player.at, player.attempt_of("a"), "ann", DONE)) == [], "it is not hers"


def test_a_lease_lasts_while_it_is_renewed_and_its_usage_counts_even_if_it_is_lost() -> None:
    player = a_player()
    player.open(a_task("a"))
    want(player, "ann")
    attempt = player.attempt_of("a")
    for _ in range(5):
        player.wait(LEASE_S - 1.0)
        player.play(ev.LeaseRenewed(player.at, attempt, "ann", "half way", 10, 20, 0.5))
    assert why(player, "a") == ["ann works on it for pulls, as attempt 1 for 295.0 s: half way"]
    player.wait(LEASE_S)
    player.end("a", ending=Ending(EndingKind.CANCELLED, "stopped"))
    ending = player.book.runs["r"].records["a"].last_ending
    assert ending is not None
    assert (ending.kind, ending.tokens_in, ending.tokens_out, ending.cost) == (EndingKind.LOST, 10, 20, 0.5)
    assert player.book.runs["r"].cost == 0.5


def test_work_that_is_handed_in_goes_to_its_check_and_its_lease_no_longer_counts() -> None:
    player = a_player()
    player.open(a_task("a"))
    want(player, "ann")
    attempt = player.attempt_of("a")
    assert hand_in(player, "a") == [HandIn(attempt, DONE)]
    assert player.wait(10 * LEASE_S) == [], "a check may take its time"
    player.end("a")
    assert player.states("a") == ["done"]


def test_a_task_that_is_given_back_costs_no_attempt() -> None:
    player = a_player()
    player.open(a_task("a", attempts=1))
    want(player, "ann")
    hand_in(player, "a", Ending(EndingKind.PREEMPTED, "not my field"))
    player.end("a", ending=Ending(EndingKind.CANCELLED, "stopped"))
    record = player.book.runs["r"].records["a"]
    assert record.last_ending is not None
    assert (record.last_ending.kind, record.last_ending.detail) == (EndingKind.PREEMPTED, "not my field")
    assert (record.tries, player.state("a")) == (0, "ready")


@pytest.mark.parametrize("lets_go", [True, False])
def test_a_cancelled_task_holds_its_claims_until_its_agent_lets_go_or_its_lease_runs_out(lets_go: bool) -> None:
    player = a_player()
    player.open(a_task("a", claims=writes("x")), a_task("b", claims=writes("x")))
    want(player, "ann")
    want(player, "bob", wait_s=1000.0)
    attempt = player.attempt_of("a")
    player.at += 1.0
    commands = player.play(ev.CancelAsked(player.at, "r", "a"))
    assert StopAttempt(attempt) not in commands, "the agent is still at work"
    player.play(ev.LeaseRenewed(player.at + 30.0, attempt, "ann"))
    if lets_go:
        assert StopAttempt(attempt) in hand_in(player, "a", Ending(EndingKind.PREEMPTED))
    else:
        assert StopAttempt(attempt) in player.wait(LEASE_S), "an attempt that must stop is not renewed"
    assert holders(player).get("b") is None
    player.end("a", ending=Ending(EndingKind.CANCELLED, "stopped"))
    assert player.states("a") == ["cancelled"]
    assert holders(player) == {"b": "bob"}


def test_files_that_an_agent_reserves_are_for_it_alone_and_free_when_it_waits_no_longer() -> None:
    player = a_player()
    player.open(a_task("a", claims=writes("src/**")))
    want(player, "ann")
    kept = a_task("kept", host="pulls", claims=writes("src/x"), once=True)
    player.play(ev.TasksSubmitted(player.at, "r", (kept,), Origin.RESERVED))
    want(player, "cy", wait_s=1000.0)
    want(player, "bob", run="r", task="kept")
    hand_in(player, "a")
    player.end("a")
    assert holders(player) == {"kept": "bob"}, "though cy has waited longer"
    hand_in(player, "kept")
    player.end("kept")
    player.add(a_task("b", claims=writes("src/**")))
    other = a_task("other", host="pulls", claims=writes("src/x"), once=True)
    player.play(ev.TasksSubmitted(player.at, "r", (other,), Origin.RESERVED))
    want(player, "bob", run="r", task="other", wait_s=5.0)
    player.wait(6.0)
    assert player.states(["other"]) == ["cancelled"], "nobody else takes it"


def test_a_reservation_whose_agent_is_not_heard_of_is_cancelled_not_failed() -> None:
    player = a_player()
    player.open(a_task("a", claims=writes("src/**")))
    kept = a_task("kept", host="pulls", claims=writes("docs/x"), once=True, attempts=1)
    player.play(ev.TasksSubmitted(player.at, "r", (kept,), Origin.RESERVED))
    want(player, "bob", run="r", task="kept")
    player.wait(LEASE_S + 1)
    player.end("kept", ending=Ending(EndingKind.LOST, "stopped"))
    assert player.states(["kept"]) == ["cancelled"], "nothing was to be done that could have failed"
    assert "nothing was heard of bob" in player.cause("kept")


def test_when_a_dispatcher_starts_every_lease_has_its_whole_length_again() -> None:
    player = a_player()
    player.open(a_task("a"))
    want(player, "ann")
    attempt = player.attempt_of("a")
    after = Scheduler()
    after.replay(player.journal)
    hosts = (a_host("pulls", width=4, lease_s=LEASE_S),)
    after.handle([ev.HostsConfigured(500.0, hosts)])
    assert [*after.book.running] == [attempt], "nobody could renew it while no dispatcher ran"
    after.handle([ev.WorkHandedIn(510.0, attempt, "ann", DONE), ev.AttemptEnded(510.0, attempt, DONE)])
    assert after.book.runs["r"].records["a"].state == "done"


def test_a_run_that_is_stopped_comes_to_rest_and_agents_keep_what_they_hold() -> None:
    player = a_player()
    player.open(a_task("a"), a_task("b"))
    want(player, "ann")
    commands = player.play(ev.RunStopped(player.at, "r"))
    assert RunEnded("r") in commands
    assert player.running == ["a"]
    hand_in(player, "a")
    assert RunEnded("r") in player.end("a")
    assert player.states("ab") == ["done", "ready"]


def test_a_journal_and_a_snapshot_have_wishes_and_leases() -> None:
    player = a_player(width=2)
    player.open(*(a_task(f"t{n}") for n in range(3)))
    want(player, "ann", "bob", "cy")
    player.play(ev.LeaseRenewed(player.at + 1.0, player.attempt_of("t0"), "ann", "at it", 5, 6, 0.1))
    hand_in(player, "t1")
    replayed, restored = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.load(restored, snapshot.save(player.scheduler))
    assert snapshot.save(replayed) == snapshot.save(player.scheduler) == snapshot.save(restored)
    assert [one.lease for one in restored.book.running.values()] == [one.lease for one in player.book.running.values()]
    assert [*restored.book.hosts["pulls"].wishes] == ["cy"]
