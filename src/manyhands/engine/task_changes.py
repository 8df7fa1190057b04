"""Whether a person may change a task like this: asked by the verb, and by the dispatcher before it does so."""

from collections.abc import Sequence
from typing import assert_never

from manyhands.core.graph import find_cycle
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Task, TaskState
from manyhands.core.values.task_change import TaskChange, changed
from manyhands.readers.compiled_rules import compiled_rules

_keeps_rules = compiled_rules(Task)


def why_not_changed(run: Run, record: Record, change: TaskChange) -> str:
    """ "": it may be changed."""
    id = record.task.id
    if record.is_step:
        return f"`{id}` is a step of a family, which the engine made"
    if not _waits(record.state):
        return f"task `{id}` is {record.state}, and only a task that waits can be changed"
    if not change.values():
        return f"nothing of task `{id}` is to be changed"
    if change.prompt is not None and not (record.task.prompt and change.prompt.strip()):
        return (
            f"task `{id}` has no prompt to change" if not record.task.prompt else f"the new prompt of `{id}` is empty"
        )
    if not _keeps_rules(changed(record.task, change)):
        return f"the new values of task `{id}` break the rules of a plan"
    return _why_not_needed(run, id, change.needs) if change.needs is not None else ""


def _waits(state: TaskState) -> bool:
    match state:
        case TaskState.BLOCKED | TaskState.READY | TaskState.BACKOFF | TaskState.DEFERRED | TaskState.SKIPPED:
            return True
        case TaskState.NEEDS_PERSON:
            return True
        case TaskState.RUNNING | TaskState.DONE | TaskState.FAILED | TaskState.CANCELLED:
            return False
        case _:
            assert_never(state)


def _why_not_needed(run: Run, id: str, needs: Sequence[str]) -> str:
    unknown = [need for need in needs if need not in run.records]
    if unknown:
        return f"there is no task `{unknown[0]}` in run {run.name}"
    needs_of = {one.task.id: one.task.needs for one in run.records.values()} | {id: tuple(needs)}
    cycle = find_cycle(needs_of)
    return f"the tasks would wait for each other: {' → '.join(cycle)}" if cycle else ""
