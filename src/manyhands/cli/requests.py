"""`manyhands task cancel|retry|defer|resume`: asked durably of whoever dispatches now, or next."""

import time
from collections.abc import Callable, Collection
from pathlib import Path

from manyhands.cli.output import say
from manyhands.cli.settings import load
from manyhands.cli.views import command_for, find_task, open_book
from manyhands.core import events
from manyhands.core.model import TaskState
from manyhands.core.state import Record
from manyhands.errors import Conflict
from manyhands.store.sqlite import open_requests


def cancel_task(id: str, run: str | None, config: Path | None, store: str | None) -> None:
    waiting = {TaskState.BLOCKED, TaskState.READY, TaskState.RUNNING, TaskState.BACKOFF, TaskState.DEFERRED}
    _ask(id, run, config, store, "cancelled", waiting, lambda r: events.CancelAsked(time.time(), r.run, r.task.id))


def retry_task(id: str, run: str | None, config: Path | None, store: str | None) -> None:
    ended = {TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED}
    _ask(id, run, config, store, "retried", ended, lambda r: events.RetryAsked(time.time(), r.run, r.task.id))


def defer_task(id: str, run: str | None, config: Path | None, store: str | None) -> None:
    waiting = {TaskState.BLOCKED, TaskState.READY, TaskState.BACKOFF}
    _ask(id, run, config, store, "deferred", waiting, lambda r: events.DeferAsked(time.time(), r.run, r.task.id))


def resume_task(id: str, run: str | None, config: Path | None, store: str | None) -> None:
    _ask(
        id,
        run,
        config,
        store,
        "resumed",
        {TaskState.DEFERRED},
        lambda r: events.ResumeAsked(time.time(), r.run, r.task.id),
    )


def _ask(
    id: str,
    run: str | None,
    config_path: Path | None,
    store: str | None,
    what: str,
    allowed: Collection[TaskState],
    request: Callable[[Record], events.Input],
) -> None:
    config = load(config_path, None, store)
    book = open_book(config.store_directory)
    record = find_task(book, id, run)
    if record.state not in allowed:
        raise Conflict(f"task `{id}` is {record.state} and cannot be {what}", _instead(record))
    asking = open_requests(config.store_directory, config.store.durability)
    try:
        asking.ask(request(record))
        heard = asking.heard
    finally:
        asking.close()
    if heard:
        say(f"task {id} of run {record.run} is being {what}")
    else:
        say(f"task {id} of run {record.run} will be {what} when it goes on: `{command_for(book.runs[record.run])}`")


def _instead(record: Record) -> str:
    match record.state:
        case TaskState.DONE:
            return f"`manyhands task show {record.task.id}` shows its attempts; a new run does it again"
        case TaskState.FAILED | TaskState.CANCELLED | TaskState.SKIPPED:
            return f"`manyhands task retry {record.task.id}` gives it another go"
        case TaskState.DEFERRED:
            return f"`manyhands task resume {record.task.id}` lets it go on"
        case _:
            return f"`manyhands task explain {record.task.id}` says what it is waiting for"
