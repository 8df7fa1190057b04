"""What a backlog says anew of tasks it has submitted before."""

from helpers import Player, a_host, a_task
from manyhands.core import events as ev
from manyhands.core.values.task import Task


def edit(player: Player, task: Task) -> None:
    player.play(ev.TaskEdited(player.at, "r", task))


def test_a_task_that_waits_is_taken_over_as_it_is_now() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b", priority=3), a_task("c", priority=2))
    edit(player, a_task("b", priority=1, title="urgent after all"))
    assert player.run_to_end() == ["a", "b", "c"]
    assert player.book.runs["r"].records["b"].task.title == "urgent after all"


def test_a_task_that_runs_or_has_ended_stays_what_it_was() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"))
    edit(player, a_task("a", title="other"))
    player.end("a")
    edit(player, a_task("a", title="other"))
    assert player.book.runs["r"].records["a"].task.title == ""
    assert player.state("a") == "done"


def test_a_need_that_is_added_is_waited_for_and_one_that_is_dropped_is_not() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a", priority=1), a_task("b"), a_task("c", needs=("b",)))
    edit(player, a_task("b", needs=("a",)))
    assert player.states("bc") == ["blocked", "blocked"]
    edit(player, a_task("c"))
    assert player.state("c") == "ready"
    assert player.run_to_end() == ["a", "b", "c"]


def test_a_task_can_be_put_off_and_let_go_by_its_plan() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"))
    edit(player, a_task("b", deferred=True))
    assert player.state("b") == "deferred"
    edit(player, a_task("b"))
    assert player.run_to_end() == ["a", "b"]


def test_an_edit_does_not_undo_what_a_person_put_off() -> None:
    player = Player(a_host(width=1))
    player.open(a_task("a"), a_task("b"))
    player.play(ev.DeferAsked(player.at, "r", "b"))
    edit(player, a_task("b", title="new"))
    assert player.state("b") == "deferred"
    assert player.book.runs["r"].records["b"].task.title == "new"


def test_runs_share_a_host_by_their_weights() -> None:
    player = Player(a_host(width=6))
    many = [a_task(f"t{n}") for n in range(30)]
    player.open(*many, run="light")
    player.end(*player.running)  # while alone it has all of it
    player.open(*many, run="heavy", weight=2.0)
    shares = []
    for _ in range(3):
        player.end(*player.running)
        shares.append(tuple(player.book.runs[name].in_flight for name in ("light", "heavy")))
    assert shares == [(2, 4)] * 3


def test_a_more_urgent_task_goes_first_whatever_its_run_has_already() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}") for n in range(4)), run="one")
    player.open(*(a_task(f"u{n}", priority=3) for n in range(4)), run="two")
    player.end(*player.running)
    assert player.running == ["t2", "t3"]
