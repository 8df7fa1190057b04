"""What a person changes of a task that waits: a few fields, beside what its backlog says."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from manyhands.core.values.task import Stage, Task


class TaskChange(Struct, frozen=True, omit_defaults=True, gc=False):
    """New values. None: the field stays as it is."""

    priority: int | None = None
    needs: tuple[str, ...] | None = None
    title: str | None = None
    prompt: str | None = None
    stage: Stage | None = None

    def values(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class KeptChange(Struct, frozen=True, gc=False):
    """What a person has changed so far, and what the backlog said of these fields then."""

    change: TaskChange
    before: TaskChange


def changed(task: Task, change: TaskChange) -> Task:
    return replace(task, **change.values())


def with_change(task: Task, kept: KeptChange | None) -> Task:
    """The task of the backlog as the person wants it. A field that the backlog has changed since is the backlog's."""
    if kept is None:
        return task
    before = kept.before.values()
    still = {name: value for name, value in kept.change.values().items() if getattr(task, name) == before[name]}
    return replace(task, **still)


def kept_with(kept: KeptChange | None, task: Task, change: TaskChange) -> KeptChange:
    """The changes so far and this one. `task` is as it was before."""
    values = {**(kept.change.values() if kept is not None else {}), **change.values()}
    now = {name: getattr(task, name) for name in change.values()}
    before = {**now, **(kept.before.values() if kept is not None else {})}
    return KeptChange(TaskChange(**values), TaskChange(**before))
