"""Notes of an application on its run: kept in order, not read, and never in the way of the run's tasks."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core import snapshot
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import RunNote


def test_notes_are_kept_in_order_and_survive_replay_and_snapshot() -> None:
    player = Player()
    player.open(a_task("a"))
    player.play(ev.RunNoted(1.0, "r", {"type": "asked", "for": ["this", {"and": "that"}]}))
    player.play(ev.RunNoted(2.0, "r", {"type": "done"}), ev.RunNoted(2.0, "unknown", {}))
    notes = [RunNote(1.0, {"type": "asked", "for": ["this", {"and": "that"}]}), RunNote(2.0, {"type": "done"})]
    assert player.book.runs["r"].notes == notes
    replayed, loaded = Scheduler(), Scheduler()
    replayed.replay(player.journal)
    assert replayed.book.runs["r"].notes == notes
    assert snapshot.load(loaded, snapshot.save(replayed))
    assert loaded.book.runs["r"].notes == notes


def test_a_run_without_tasks_ends_with_the_note_that_says_so() -> None:
    player = Player()
    player.play(ev.RunOpened(0.0, "e"))
    player.play(ev.RunNoted(1.0, "e", {"type": "asked"}))
    assert player.book.runs["e"].ended_at is None
    player.play(ev.RunNoted(5.0, "e", {"type": "ended"}, ends=True))
    assert player.book.runs["e"].ended_at == 5.0


def test_a_run_with_tasks_left_does_not_end_with_a_note() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"))
    player.play(ev.RunNoted(1.0, "r", {}, ends=True))
    assert player.book.runs["r"].ended_at is None
