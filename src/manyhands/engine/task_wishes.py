"""What a person can ask of one task, in which states it makes sense, and what to do instead where it does not."""

from collections.abc import Callable
from typing import NamedTuple, assert_never

from manyhands.core import events
from manyhands.core.state import Record
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.task import TaskState
from manyhands.core.values.task_change import TaskChange
from manyhands.errors import Conflict

_WAITING = frozenset({TaskState.BLOCKED, TaskState.READY, TaskState.BACKOFF})


class Wish(NamedTuple):
    done: str  # cancelled, retried …
    allowed: frozenset[TaskState]
    event: Callable[[float, str, str], events.Input]  # at, run, task

    def check(self, record: Record) -> None:
        if record.is_step and self is WISHES["retry"]:
            message = f"`{record.task.id}` is a step of the family `{record.task.parent}` and cannot be retried alone"
            raise Conflict(message, "retry the members that failed: they are done with all steps of a new round")
        self._check_stage(record)
        # A member of a family waits as deferred; putting it off means that the next round runs without it.
        if self is WISHES["defer"] and record.state is TaskState.DEFERRED and record.task.family:
            return
        is_asking = record.state is TaskState.NEEDS_PERSON and record.question is not None
        if record.state not in self.allowed or (is_asking and self is WISHES["resume"]):
            message = f"task `{record.task.id}` is {record.state} and cannot be {self.done}"
            raise Conflict(message, _instead(record))

    def can(self, record: Record) -> bool:
        try:
            self.check(record)
        except Conflict:
            return False
        return record.state in self.allowed

    def _check_stage(self, record: Record) -> None:
        id, is_publish = record.task.id, self is WISHES["publish"]
        if record.state is not TaskState.DEFERRED or not (is_publish or self is WISHES["resume"]):
            return
        if is_publish and not record.task.stage:
            raise Conflict(f"task `{id}` is not a draft and cannot be published", _instead(record))
        if not is_publish and record.task.stage:
            raise Conflict(f"task `{id}` is not ready to run: its stage is {record.task.stage}", _PUBLISH.format(id))


_PUBLISH = "`manyhands task publish {}` lets it start"


def _published(at: float, run: str, task: str) -> events.ChangeAsked:
    return events.ChangeAsked(at, run, task, TaskChange(stage=""))


def _cancelled(at: float, run: str, task: str) -> events.CancelAsked:
    return events.CancelAsked(at, run, task, by=CausedBy.PERSON)


WISHES: dict[str, Wish] = {
    "cancel": Wish("cancelled", _WAITING | {TaskState.RUNNING, TaskState.DEFERRED, TaskState.NEEDS_PERSON}, _cancelled),
    "retry": Wish("retried", frozenset({TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED}), events.RetryAsked),
    "defer": Wish("deferred", _WAITING, events.DeferAsked),
    "resume": Wish("resumed", frozenset({TaskState.DEFERRED, TaskState.NEEDS_PERSON}), events.ResumeAsked),
    "publish": Wish("published", frozenset({TaskState.DEFERRED}), _published),
}


def _instead(record: Record) -> str:
    match record.state:
        case TaskState.DONE:
            return (
                f"`manyhands task show {record.task.id}` shows its attempts; `manyhands run PLAN --again` repeats all"
            )
        case TaskState.FAILED | TaskState.CANCELLED | TaskState.SKIPPED:
            return f"`manyhands task retry {record.task.id}` tries it again"
        case TaskState.NEEDS_PERSON if record.question is not None:
            return "`manyhands inbox` has the command that answers it"
        case TaskState.DEFERRED | TaskState.NEEDS_PERSON:
            return f"`manyhands task resume {record.task.id}` lets it continue"
        case TaskState.BLOCKED | TaskState.READY | TaskState.RUNNING | TaskState.BACKOFF:
            return f"`manyhands task explain {record.task.id}` says what it is waiting for"
        case state:
            assert_never(state)
