"""A run that has ended can be put away: the journal has it, and the book no longer does."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.commands import RunEnded
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import DONE
from manyhands.core.values.host import Route


def put_away(player: Player, run: str = "r") -> None:
    player.play(ev.RunPutAway(player.at, run))


def test_a_run_that_has_ended_leaves_the_book_and_the_others_go_on() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"))
    player.open(a_task("a"), run="other")
    player.end("a", "b")
    put_away(player)
    assert [*player.book.runs] == ["other"]
    assert {name[0] for name in player.book.ready.pools} == {"other"}
    player.end("a")
    assert player.commands[-1] == RunEnded("other")


def test_what_has_something_left_to_do_stays() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"), a_task("put-off", deferred=True))
    put_away(player)
    player.end("a")
    put_away(player)
    player.end("b")
    put_away(player)
    assert [*player.book.runs] == ["r"]
    player.play(ev.CancelAsked(player.at, "r", "put-off"))
    put_away(player)
    assert [*player.book.runs] == []


def test_what_has_a_result_left_to_deliver_stays_until_it_is_delivered() -> None:
    player = Player()
    player.play(ev.HostsConfigured(player.at, (a_host(),), routes=(Route("shop", ("sink",)),)))
    player.open(a_task("a", app="shop"))
    player.end("a")
    put_away(player)
    assert [*player.book.runs] == ["r"]
    player.play(ev.DeliveryGivenUp(player.at, 1, "no answer", 9))
    put_away(player)
    assert [*player.book.runs] == ["r"]
    player.play(ev.ResendAsked(player.at, 1), ev.Delivered(player.at, 1))
    put_away(player)
    assert [*player.book.runs] == []


def test_a_run_put_away_in_the_breath_in_which_it_ends_is_still_said_to_have_ended() -> None:
    player = Player()
    player.open(a_task("a"))
    ended = ev.AttemptEnded(1.0, player.attempt_of("a"), DONE)
    assert RunEnded("r") in player.play(ended, ev.RunPutAway(1.0, "r"))
    assert [*player.book.runs] == []


def test_an_unknown_run_is_put_away_without_a_word() -> None:
    player = Player()
    put_away(player, "never-was")
    assert [*player.book.runs] == []


def test_the_journal_and_a_snapshot_lead_to_the_same_book() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b", timeout=60.0))
    player.open(a_task("c"), run="other")
    player.end("a", "b")
    before = snapshot.save(player.scheduler)
    seen = len(player.journal)
    put_away(player)
    replayed, loaded = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert snapshot.load(loaded, before)
    loaded.replay(player.journal[seen:])
    assert snapshot.save(replayed) == snapshot.save(loaded) == snapshot.save(player.scheduler)
