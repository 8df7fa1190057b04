"""What a person may change of a task that waits: how urgent it is, what it needs, what it is told, and its stage."""

from collections.abc import Sequence

import msgspec

from manyhands.core.events import ChangeAsked
from manyhands.core.values.task_change import TaskChange, changed
from manyhands.engine.task_changes import why_not_changed
from manyhands.errors import Conflict, UsageError
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted
from manyhands.surfaces.verbs.store_view import command_for, find_task


def task_change(
    priority: int | None = None,
    needs: Sequence[str] | None = None,
    title: str | None = None,
    prompt: str | None = None,
    stage: str | None = None,
) -> TaskChange:
    """The values that were given. None: as it was."""
    if stage not in (None, "", "draft", "planned"):
        raise UsageError(f"there is no stage `{stage}`", "write draft or planned; `task publish` lets it start")
    given = {
        "priority": priority,
        "needs": None if needs is None else list(needs),
        "title": title,
        "prompt": prompt,
        "stage": stage,
    }
    return msgspec.convert({name: value for name, value in given.items() if value is not None}, TaskChange)


def edit_task(view: BookView, id: str, run: str | None, change: TaskChange) -> Wanted[RequestKept]:
    """The change stays until the plan or backlog of the run says something else about the same field."""
    record = find_task(view.book, id, run)
    if why := why_not_changed(view.book.runs[record.run], record, change):
        raise Conflict(why, f"`manyhands task show {id}` shows the task as it is")
    if changed(record.task, change) == record.task:
        raise UsageError(f"nothing of task `{id}` would change", "give another priority, prompt, title or other needs")
    words = ", ".join(f"{name} {_in_words(value)}" for name, value in change.values().items())
    task = f"task {id} of run {record.run}"

    def answer(heard: bool) -> RequestKept:
        if heard:
            return RequestKept(f"{task} is being changed: {words}", heard)
        command = command_for(view.book.runs[record.run])
        return RequestKept(f"{task} will be changed ({words}) when `{command}` continues the run", heard)

    return Wanted([ChangeAsked(view.now, record.run, record.task.id, change)], answer)


def _in_words(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return (text if len(text) <= 60 else f"{text[:59]}…") or "none"
