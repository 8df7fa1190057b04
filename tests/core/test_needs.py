"""Tasks that wait for others, and what becomes of them when those do not end well."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.ending import Ending, EndingKind

BROKEN = Ending(EndingKind.FAILED, "exit 1", permanent=True)


def diamond() -> tuple:
    return (
        a_task("a"),
        a_task("b", needs=("a",)),
        a_task("c", needs=("a",)),
        a_task("d", needs=("b", "c")),
    )


def test_a_task_waits_until_all_its_needs_are_done() -> None:
    player = Player(a_host(width=4))
    player.open(*diamond())
    assert player.running == ["a"]
    player.end("a")
    assert player.running == ["b", "c"]
    player.end("b")
    assert player.running == ["c"]
    assert player.state("d") == "blocked"
    player.end("c")
    assert player.running == ["d"]


def test_a_need_may_be_listed_after_or_submitted_after_the_task_that_has_it() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("leaf", needs=("root", "late")), a_task("root"))
    player.end("root")
    assert player.state("leaf") == "blocked"
    player.add(a_task("late"))
    player.end("late")
    assert player.running == ["leaf"]


def test_a_need_that_is_done_already_does_not_hold_up_a_task_submitted_later() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a")
    player.add(a_task("b", needs=("a",)))
    assert player.running == ["b"]


@pytest.mark.parametrize("first", ["good", "bad"])
def test_a_failed_need_skips_the_task_whichever_parent_ends_first(first: str) -> None:
    player = Player(a_host(width=2))
    player.open(a_task("good"), a_task("bad"), a_task("child", needs=("good", "bad")))
    for id in ("good", "bad") if first == "good" else ("bad", "good"):
        player.end(id, ending=BROKEN if id == "bad" else Ending(EndingKind.DONE))
    assert player.state("child") == "skipped"
    assert player.cause("child") == "it needs `bad`, which failed"


def test_skipping_spreads_to_everything_behind_it_with_the_cause() -> None:
    player = Player()
    player.open(*diamond(), a_task("e", needs=("d",)), a_task("apart"))
    player.end("a", ending=BROKEN)
    assert player.states("bcde") == ["skipped"] * 4
    assert player.cause("e") == "it needs `d`, which was skipped"
    assert player.running == ["apart"]


def test_a_task_submitted_after_its_need_failed_is_skipped_at_once() -> None:
    player = Player()
    player.open(a_task("a"))
    player.end("a", ending=BROKEN)
    player.add(a_task("b", needs=("a",)), a_task("c", needs=("b",)))
    assert player.states("bc") == ["skipped", "skipped"]
    assert player.started == ["a"]


@pytest.mark.parametrize("how", ["cancelled", "failed"])
def test_a_second_go_brings_back_all_that_was_skipped_because_of_it(how: str) -> None:
    player = Player(a_host(width=4))
    player.open(*diamond())
    if how == "cancelled":
        player.play(ev.CancelAsked(player.at, "r", "a"))
    player.end("a", ending=BROKEN)
    assert player.states("abcd") == [how, "skipped", "skipped", "skipped"]
    player.play(ev.RetryAsked(player.at, "r", "a"))
    assert player.states("abcd") == ["running", "blocked", "blocked", "blocked"]
    player.run_to_end()
    assert player.states("abcd") == ["done"] * 4


def test_a_second_go_does_not_bring_back_what_another_need_still_keeps_down() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("x"), a_task("child", needs=("a", "x")), a_task("grandchild", needs=("child",)))
    player.end("a", "x", ending=BROKEN)
    player.play(ev.RetryAsked(player.at, "r", "a"))
    assert player.states(("child", "grandchild")) == ["skipped", "skipped"]
    assert player.cause("child") == "it needs `x`, which failed"


def test_a_second_go_has_a_fresh_set_of_attempts() -> None:
    player = Player()
    player.open(a_task("a", attempts=1))
    failed = Ending(EndingKind.FAILED, "exit 1")
    player.end("a", ending=failed)
    assert player.state("a") == "failed"
    player.play(ev.RetryAsked(player.at, "r", "a"))
    assert player.running == ["a"]
    player.end("a", ending=failed)
    assert player.state("a") == "failed"


def test_a_second_go_of_a_done_or_running_task_changes_nothing() -> None:
    player = Player()
    player.open(a_task("a"), a_task("b"))
    player.end("a")
    player.play(ev.RetryAsked(player.at, "r", "a"), ev.RetryAsked(player.at, "r", "b"))
    assert player.states("ab") == ["done", "running"]


def test_submitting_a_task_twice_is_submitting_it_once() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("a"))
    player.add(a_task("a"), a_task("b"))
    assert player.run_to_end() == ["a", "b"]


def test_opening_a_run_twice_leaves_it_as_it_is() -> None:
    player = Player(a_host(width=4))
    player.open(a_task("a"))
    player.open(a_task("b"), concurrency=1)
    assert sorted(player.running) == ["a", "b"]
