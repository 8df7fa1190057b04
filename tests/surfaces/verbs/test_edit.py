"""What a person may change about a task, and what is refused."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.errors import Conflict, UsageError
from manyhands.surfaces.verbs.edit_verbs import edit_task, task_change
from surfaces.verbs.test_handoff import BookOnly


def waiting() -> Player:
    """`a` runs; `b` and `c` wait for its slot."""
    player = Player(a_host())
    player.open(a_task("a"), a_task("b"), a_task("c", prompt="Say hello"))
    return player


def test_a_task_that_waits_gets_a_new_priority_and_prompt_and_goes_first() -> None:
    player = waiting()
    wanted = edit_task(BookOnly(player.scheduler), "c", None, task_change(priority=0, prompt="Say goodbye"))
    player.play(*wanted.events)
    task = player.book.runs["r"].records["c"].task
    assert (task.priority, task.prompt) == (0, "Say goodbye")
    player.end("a")
    assert player.running == ["c"]
    assert "is being changed" in wanted.answer(True).done


@pytest.mark.parametrize(
    ("task", "changes", "error"),
    [
        ("a", {"priority": 0}, "task `a` is running, and only a task that waits can be changed"),
        ("b", {"prompt": "Say hello"}, "task `b` has no prompt"),
        ("c", {"prompt": " "}, "the new prompt of `c` is empty"),
        ("c", {"priority": 2}, "nothing of task `c` would change"),
        ("c", {}, "nothing of task `c` is to be changed"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(task: str, changes: dict[str, object], error: str) -> None:
    with pytest.raises((Conflict, UsageError), match=error):
        edit_task(BookOnly(waiting().scheduler), task, "r", task_change(**changes))  # type: ignore[arg-type]
