"""A task that was done and is wanted again, because its plan has changed."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind

FAILED = Ending(EndingKind.FAILED, "exit 1", permanent=True)


def reopen(player: Player, id: str) -> None:
    player.play(ev.RetryAsked(player.at, "r", id, again=True))


def test_a_done_task_runs_again_only_if_that_is_said() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a")
    player.play(ev.RetryAsked(player.at, "r", "a"))
    assert player.state("a") == "done"
    reopen(player, "a")
    assert player.run_to_end() == ["a", "a"]
    assert player.book.runs["r"].ended_at == player.at


def test_what_needs_it_waits_for_it_again_and_what_is_done_stays_done() -> None:
    player = Player(a_host(width=1))
    player.open(
        a_task("a"), a_task("b", needs=("a",), priority=1), a_task("c", needs=("a",)), a_task("d", needs=("c",))
    )
    player.end("a")
    player.end("b")
    player.play(ev.RunDrained(player.at, "r"))
    player.end("c", ending=FAILED)
    assert player.states("abcd") == ["done", "done", "failed", "skipped"]
    reopen(player, "a")
    player.play(ev.RetryAsked(player.at, "r", "c"))
    assert player.states("abcd") == ["ready", "done", "blocked", "blocked"]
    player.play(ev.RunResumed(player.at, "r"))
    assert player.run_to_end() == ["a", "b", "c", "a", "c", "d"]


def test_a_ready_task_gives_its_place_up_until_its_need_is_done_again() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("x", priority=1), a_task("b", needs=("a",)))
    player.end("x")
    player.end("a")
    player.play(ev.RunDrained(player.at, "r"))
    player.end("b", ending=Ending(EndingKind.PREEMPTED))
    assert player.state("b") in ("ready", "backoff")
    reopen(player, "a")
    assert player.states("ab") == ["ready", "blocked"]
    player.play(ev.RunResumed(player.at, "r"))
    assert player.run_to_end()[-2:] == ["a", "b"]


def test_a_running_task_finishes_though_its_need_is_open_again() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b", needs=("a",)))
    player.end("a")
    reopen(player, "a")
    assert sorted(player.running) == ["a", "b"]
    player.end("a", ending=FAILED)
    assert player.states("ab") == ["failed", "running"]
    player.end("b")
    assert player.states("ab") == ["failed", "done"]


def test_an_attempt_that_is_lost_meanwhile_waits_for_the_need_or_is_skipped_with_it() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b", needs=("a",)), a_task("c", needs=("b",)))
    player.end("a")
    reopen(player, "a")
    player.end("b", ending=Ending(EndingKind.LOST))
    player.wait(100.0)
    assert player.states("abc") == ["running", "blocked", "blocked"]
    player.end("a", ending=FAILED)
    assert player.states("abc") == ["failed", "skipped", "skipped"]


def test_a_task_that_was_submitted_after_its_need_was_done_waits_for_it_again_too() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"))
    player.end("a")
    player.play(ev.RunDrained(player.at, "r"))
    player.add(a_task("b", needs=("a",)))
    assert player.state("b") == "ready"
    reopen(player, "a")
    assert player.states("ab") == ["ready", "blocked"]
