"""The journal tells it all: replayed, it leads to the very state the live core was in."""

from collections.abc import Callable

import pytest

from helpers import Player, a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.host import ProcessHandle, Rule

Again = Callable[[Player], Scheduler]


def replayed(player: Player) -> Scheduler:
    scheduler = Scheduler()
    scheduler.replay(player.journal)
    return scheduler


def reloaded(player: Player) -> Scheduler:
    scheduler = Scheduler()
    assert snapshot.load(scheduler, snapshot.save(player.scheduler))
    scheduler.replay([])
    return scheduler


def busy() -> Player:
    player = Player(a_host(width=2), a_host("text", kinds=("text",)), rules=(Rule("audit", "code", 1),))
    player.open(
        a_task("a", timeout=60.0),
        a_task("b", claims=writes("src")),
        a_task("c", needs=("a",)),
        a_task("t", kind="text"),
        a_task("audit", kind="audit"),
        a_task("off", deferred=True),
        a_task("lonely", needs=("nobody",)),
        seed=7,
    )
    player.play(ev.AttemptSpawned(player.at, player.attempt_of("a"), ProcessHandle(4711, 1.5, "boot")))
    player.end("b", ending=Ending(EndingKind.FAILED, "exit 1"))
    player.play(ev.WidthSet(player.at, "local", 3), ev.HostPaused(player.at, "text", "quota", until=90.0))
    return player


@pytest.mark.parametrize("again", [replayed, reloaded])
def test_the_journal_and_the_snapshot_both_lead_back_to_the_live_state(again: Again) -> None:
    player = busy()
    assert snapshot.save(again(player)) == snapshot.save(player.scheduler)


@pytest.mark.parametrize("again", [replayed, reloaded])
def test_from_there_it_goes_on_as_if_nothing_had_happened(again: Again) -> None:
    player = busy()
    other = again(player)
    for _ in range(12):
        player.at += 30.0
        happened = [ev.AttemptEnded(player.at, n, DONE) for n in player.book.running] or [ev.Woke(player.at)]
        assert other.handle(happened) == player.scheduler.handle(happened)
        assert snapshot.save(other) == snapshot.save(player.scheduler)
    assert player.book.runs["r"].counts["done"] == 4


def test_a_cancel_and_the_ending_in_one_batch_replay_to_a_cancelled_task() -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(
        ev.CancelAsked(1.0, "r", "a"), ev.AttemptEnded(1.0, player.attempt_of("a"), Ending(EndingKind.FAILED, "killed"))
    )
    assert player.state("a") == "cancelled"
    assert snapshot.save(replayed(player)) == snapshot.save(player.scheduler)


def test_a_time_out_and_the_ending_in_one_batch_replay_to_the_same_ending() -> None:
    player = Player()
    player.open(a_task("a", timeout=5.0, attempts=1))
    player.play(ev.AttemptEnded(6.0, player.attempt_of("a"), Ending(EndingKind.FAILED, "killed")))
    assert player.cause("a") == "took longer than 5 s"
    assert snapshot.save(replayed(player)) == snapshot.save(player.scheduler)


def test_attempts_in_flight_are_in_flight_again_with_their_processes_and_claims() -> None:
    player = busy()
    scheduler = reloaded(player)
    running = list(scheduler.book.running.values())
    assert [str(one) for one in running] == [str(one) for one in player.book.running.values()]
    assert running[0].process == ProcessHandle(4711, 1.5, "boot")
    assert scheduler.book.held.holders() == player.book.held.holders()


def test_a_pause_that_ends_by_itself_still_does_after_a_restart() -> None:
    player = busy()
    scheduler = reloaded(player)
    assert scheduler.book.hosts["text"].paused == "quota"
    scheduler.handle([ev.Woke(90.0)])
    assert scheduler.book.hosts["text"].paused is None


def test_replaying_in_pieces_is_replaying_at_once() -> None:
    player = busy()
    pieces = Scheduler()
    for event in player.journal:
        pieces.replay([event])
    assert snapshot.save(pieces) == snapshot.save(replayed(player))
    happened = [ev.AttemptEnded(100.0, n, DONE) for n in player.book.running]
    assert pieces.handle(happened) == replayed(player).handle(happened)


def test_replay_decides_nothing_and_asks_for_nothing() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"))
    scheduler = Scheduler()
    scheduler.replay([event for event in player.journal if not isinstance(event, ev.AttemptStarted)])
    assert scheduler.book.running == {}
    assert [type(d) for d in scheduler.handle([ev.Woke(1.0)]).decisions] == [ev.AttemptStarted]


@pytest.mark.parametrize("data", [b"", b"nonsense", snapshot.save(Scheduler())[:-3], b"\x81\xa7version\x63"])
def test_a_damaged_or_foreign_snapshot_is_not_read(data: bytes) -> None:
    scheduler = Scheduler()
    assert not snapshot.load(scheduler, data)
    assert scheduler.book.runs == {}


def test_a_clock_that_goes_backwards_makes_no_attempt_shorter_than_nothing() -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(ev.Woke(50.0))
    player.play(ev.AttemptEnded(10.0, 1, DONE))
    tried = player.book.runs["r"].records["a"].history[0]
    assert tried.ended_at == 50.0
    assert player.book.hosts["local"].lanes["code"].usual_s == 50.0


def test_a_plan_in_several_events_is_one_plan_in_the_journal_too() -> None:
    """Of several causes for a skip the first is told: which that is depends on what came in together."""
    player = Player(a_host())
    player.open(a_task("bad", attempts=1), a_task("worse", attempts=1))
    for id in ("bad", "worse"):
        player.end(id, ending=Ending(EndingKind.FAILED, "exit 1"))
    parts = [(a_task("between", needs=("bad",)),), (a_task("last", needs=("worse", "between")),)]
    player.play(*(ev.TasksSubmitted(player.at, "r", part) for part in parts))
    assert "between" in player.cause("last")
    assert snapshot.save(replayed(player)) == snapshot.save(player.scheduler)


@pytest.mark.parametrize("again", [replayed, reloaded])
def test_an_attempt_that_is_being_stopped_is_still_being_stopped_after_a_restart(again: Again) -> None:
    player = Player(a_host())
    player.open(a_task("a"), a_task("b", needs=("a",)))
    player.play(ev.CancelAsked(player.at, "r", "a", "a person changed their mind"))
    scheduler = again(player)
    (running,) = scheduler.book.running.values()
    assert (running.stop_why, running.stop_detail) == (EndingKind.CANCELLED, "a person changed their mind")
    scheduler.handle([ev.AttemptEnded(player.at, running.attempt, Ending(EndingKind.LOST))])
    assert [str(record.state) for record in scheduler.book.runs["r"].records.values()] == ["cancelled", "skipped"]
