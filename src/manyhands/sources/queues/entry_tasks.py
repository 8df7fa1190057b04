"""An entry of a queue becomes a task, or every reason why it cannot."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from manyhands.core.values.task import Task
from manyhands.readers.problems import Problems, sheet_of_row
from manyhands.sources.plans.task_rows import task_from
from manyhands.sources.queues.work_queue import QueueEntry

#: What an entry may say. Whoever fills a queue may not decide what is run here, unless the config says so.
_DATA = (
    "id",
    "kind",
    "title",
    "priority",
    "prompt",
    "args",
    "claims",
    "save",
    "keep",
    "timeout",
    "attempts",
    "parent",
    "labels",
    "resources",
    "once",
    "app",
    "reply_to",
)
_COMMANDS = ("run", "call", "check", "env", "cwd", "workspace", "host", "preemptible")
#: Fields of a stream entry that are text, as those of a task are.
_TEXTS = ("id", "kind", "title", "prompt", "save", "app", "reply_to")


class BadEntry(Exception):
    pass


def task_of(entry: QueueEntry, like: Task, where: str, commands: bool) -> Task:
    """`like` has the fields that the entry does not have."""
    given = _row(entry, like)
    allowed = (*_DATA, *_COMMANDS) if commands else _DATA
    if extra := next((name for name in given if name not in allowed), ""):
        why = (
            "it needs `commands = true` in the config"
            if extra in _COMMANDS
            else "entries of a queue have no such field"
        )
        raise BadEntry(f"`{extra}` is not taken from a queue: {why}")
    problems = Problems()
    defaults = {name: value for name, value in msgspec.to_builtins(like).items() if name != "id"}
    row = {**defaults, "id": entry.id, **given}
    task = task_from(row, sheet_of_row(where, 0, problems))
    if task is None:
        raise BadEntry("; ".join(problem.message for problem in problems.kept))
    return task


def _row(entry: QueueEntry, like: Task) -> dict[str, Any]:
    content: Mapping[str, Any] = entry.content
    if "task" in content:
        row = content["task"]
        if isinstance(row, str):
            try:
                row = json.loads(row)
            except (ValueError, RecursionError) as error:
                raise BadEntry(f"`task` is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise BadEntry("`task` must be a JSON object with the fields of a task")
        return row
    return _plain_row(content, like)


def _plain_row(content: Mapping[str, str], like: Task) -> dict[str, Any]:
    """An entry of a program that knows nothing of manyhands: its fields are arguments, or the text of the prompt."""
    row: dict[str, Any] = {name: content[name] for name in _TEXTS if name in content}
    others = {name: value for name, value in content.items() if name not in row}
    if like.call:
        row["args"] = {**(like.args or {}), **others}
    elif "prompt" not in row:
        row["prompt"] = json.dumps(others, ensure_ascii=False)
    return row
