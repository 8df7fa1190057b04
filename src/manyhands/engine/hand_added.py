"""Tasks that someone adds by hand to a run, by command or over HTTP: how they are told apart, and the events of it."""

from collections.abc import Sequence

from manyhands.core.events import Input, RunOpened
from manyhands.core.state import Run
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import Task
from manyhands.engine.run_opening import submitting
from manyhands.errors import Conflict

#: The run of all that is added to no other.
ADDED_RUN = "added"


def adding(run: str, at: float, tasks: Sequence[Task]) -> list[Input]:
    """The events; opening a run twice is opening it once."""
    opened: list[Input] = [RunOpened(at, run, purpose=Purpose.HAND)] if run == ADDED_RUN else []
    return [*opened, *submitting(run, at, tasks, Origin.HAND)]


def check_ids(tasks: Sequence[Task], run: Run | None) -> None:
    for task in tasks:
        if run is not None and task.id in run.records:
            state = run.records[task.id].state
            raise Conflict(f"run {run.name} has a task `{task.id}` already; it is {state}", "give it another id")
