"""What a map has to do: its tasks against the run of that name. Nothing happens here yet."""

from collections.abc import Mapping

from manyhands.apps.serve.live_backlog import WantedTasks
from manyhands.apps.serve.reconcile import reconcile
from manyhands.core.book import Book
from manyhands.core.events import Input, RetryAsked, RunResumed
from manyhands.core.values.provenance import Purpose
from manyhands.core.values.task import Task, TaskState
from manyhands.engine.run_opening import new_name, opening
from manyhands.errors import Conflict, UsageError
from manyhands.readers.name_rules import is_good_name


def run_name(book: Book, name: str, label: str) -> str:
    """The given name, or a new one."""
    if not name:
        return new_name(book, label)
    if not is_good_name(name):
        raise UsageError(f"`{name}` is not a name for a run", "use letters, digits and dashes")
    run = book.runs.get(name)
    if run is not None and run.purpose is not Purpose.PROGRAM:
        raise Conflict(f"run `{name}` was not opened by a Python program", "choose another `name`")
    return name


def map_steps(
    book: Book, run: str, tasks: Mapping[str, Task], at: float, again: bool, concurrency: int | None
) -> list[Input]:
    """Open the run, or continue it: what is done stays done, and what failed is tried again."""
    known = book.runs.get(run)
    if known is None:
        return list(opening(run, at, tasks.values(), concurrency=concurrency, purpose=Purpose.PROGRAM))

    def comes_back(record: object, task: Task) -> bool:
        return again or known.records[task.id].state is not TaskState.DONE

    steps = reconcile(WantedTasks(tasks), known, at, lambda id: "it is not among the items", comes_back)
    returning = {event.task for event in steps.events if isinstance(event, RetryAsked)}
    skipped = [
        RetryAsked(at, run, id)
        for id in tasks
        if id in known.records and known.records[id].state is TaskState.SKIPPED and id not in returning
    ]
    return [RunResumed(at, run, concurrency), *steps.events, *skipped]
