"""Several runs side by side: which they are, and how every task came out in each."""

from helpers import Player, a_host, a_task
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.surfaces.verbs.grid_verbs import GridCell, grid_of
from surfaces.verbs.test_handoff import BookOnly

FAILED = Ending(EndingKind.FAILED, "exit 3", cost=0.5, tokens_in=2, tokens_out=1)


def two_nights() -> BookOnly:
    """The same plan twice; in the second run `b` fails, and `c` is new. Another plan is between them."""
    player = Player(a_host(width=3))
    player.open(a_task("a"), a_task("b"), run="night-1", source="night.toml")
    player.end("a", ending=Ending(EndingKind.DONE, cost=0.25))
    player.end("b")
    player.open(a_task("x"), run="day-1", source="day.toml")
    player.end("x")
    player.open(a_task("a"), a_task("b", attempts=1), a_task("c"), run="night-2", source="night.toml")
    player.end("b", ending=FAILED)
    player.end("a", "c", after_s=2.0)
    return BookOnly(player.scheduler)


def test_the_newest_run_stands_beside_those_of_its_plan_and_what_went_wrong_comes_first() -> None:
    grid = grid_of(two_nights())
    assert [run.run for run in grid.runs] == ["night-1", "night-2"]
    assert [(run.attempts, run.busy_s, run.tokens, run.cost) for run in grid.runs] == [
        (2, 3.0, 0, 0.25),
        (3, 7.0, 3, 0.5),
    ]
    assert [row.task for row in grid.tasks] == ["b", "c", "a"]
    assert grid.tasks[0].cells == [GridCell("done", 2.0, 1, None), GridCell("failed", 1.0, 1, 0.5)]
    assert grid.tasks[1].cells == [None, GridCell("done", 3.0, 1, None)]
    assert grid.total == 3


def test_runs_of_different_plans_can_be_asked_for_by_name() -> None:
    grid = grid_of(two_nights(), ["day-1", "night-1"])
    assert [run.run for run in grid.runs] == ["day-1", "night-1"]
    assert {row.task: [cell is not None for cell in row.cells] for row in grid.tasks} == {
        "x": [True, False],
        "a": [False, True],
        "b": [False, True],
    }


def test_a_chosen_run_stands_beside_those_before_it_of_its_plan() -> None:
    assert [run.run for run in grid_of(two_nights(), of="night-1").runs] == ["night-1"]
    assert [run.run for run in grid_of(two_nights(), of="day-1").runs] == ["day-1"]
    assert [run.run for run in grid_of(two_nights(), of="night-2").runs] == ["night-1", "night-2"]
