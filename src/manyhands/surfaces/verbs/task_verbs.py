"""What the tasks of a run are doing, and why."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.explain import explain
from manyhands.core.state import AttemptRecord, Record, Run
from manyhands.core.values.ending import Ending
from manyhands.core.values.task import TERMINAL, TaskState, is_step
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Conflict, UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.store_view import View, command_for, find_task

#: What a list shows first: what is going on, then what waits, then what is over.
ORDER = (
    TaskState.RUNNING,
    TaskState.FAILED,
    TaskState.BACKOFF,
    TaskState.READY,
    TaskState.BLOCKED,
    TaskState.DEFERRED,
    TaskState.SKIPPED,
    TaskState.CANCELLED,
    TaskState.DONE,
)

#: What an attempt may leave: an answer or a returned value, if it is long, and what its commands printed.
RESULTS = ("result.txt", "result.json")
OUTPUT = "output.log"


def matching(run: Run, state: str | None, kind: str | None) -> list[Record]:
    """What is going on comes first."""
    if state is not None and state not in list(TaskState):
        known = f"the states are {', '.join(TaskState)}"
        raise UsageError(f"there is no state `{state}`", did_you_mean(state, TaskState) or known)
    found = [
        record
        for record in run.records.values()
        if (state is None or record.state == state) and (kind is None or record.task.kind == kind)
    ]
    found.sort(key=lambda record: ORDER.index(record.state))
    return found


def task_row(book: Book, record: Record, now: float) -> dict[str, object]:
    history = record.history or []
    why = "" if record.state in (TaskState.RUNNING, TaskState.DONE) else next(iter(explain(book, record, now)), "")
    return {
        "task": record.task.id,
        "kind": record.task.kind,
        "state": str(record.state),
        "attempt": len(history),
        "attempts": record.task.attempts,
        "host": history[-1].host if history else None,
        "for_s": _how_long_s(record, now),
        "why": why,
    }


def _how_long_s(record: Record, now: float) -> float | None:
    """Since when it waits or runs; of what is over, how long the last attempt took."""
    if record.state not in TERMINAL:
        return now - record.since
    last = record.history[-1] if record.history else None
    return last.ended_at - last.started_at if last and last.ended_at else None


def idle_note(view: View, run: Run) -> str:
    """Said of a run that would go on if anyone dispatched; "" of any other."""
    going = sum(run.counts[each] for each in (TaskState.READY, TaskState.RUNNING, TaskState.BACKOFF))
    if not going or view.is_dispatching:
        return ""
    return f"nothing is at work here; `{command_for(run)}` goes on with {run.unfinished:,} unfinished"


class TaskReport(Struct):
    """All that is known of a task."""

    task: str
    run: str
    state: str
    why: list[str]
    attempts: list[AttemptRecord]
    plan: dict[str, Any]  # its fields, as in a plan


def task_whole(view: View, record: Record) -> TaskReport:
    return TaskReport(
        task=record.task.id,
        run=record.run,
        state=str(record.state),
        why=explain(view.book, record, time.time()),
        attempts=record.history or [],
        plan=msgspec.to_builtins(record.task),
    )


def reasons_for(view: View, record: Record) -> list[str]:
    """Why it is where it is; the first is what it waits for now."""
    reasons = explain(view.book, record, time.time())
    if record.state not in TERMINAL and not view.is_dispatching:
        # Whatever else keeps it, nothing starts by itself.
        reasons = [f"nothing is at work here; `{command_for(view.book.runs[record.run])}` goes on", *reasons]
    return reasons


class AttemptOutput(NamedTuple):
    """What an attempt has left behind: in files, or where there are none in its ending."""

    record: Record
    number: int
    results: list[Path]
    output: Path | None
    ending: Ending | None  # None: it is still in flight


def left_by(view: View, id: str, run: str | None, attempt: int | None) -> AttemptOutput:
    """By that attempt at the task, or the last."""
    record = _who_did(view.book, find_task(view.book, id, run))
    id, tried = record.task.id, record.history or []
    if not tried:
        raise Conflict(f"task `{id}` has not been tried yet", f"`manyhands task explain {id}` says why")
    number = attempt if attempt is not None else len(tried)
    if not 1 <= number <= len(tried):
        raise UsageError(f"task `{id}` has no attempt {number}", f"it has had {len(tried)}")
    place = Path(attempt_directory(view.config.store_directory, record.run, id, number))
    results = [file for name in RESULTS if (file := place / name).is_file()]
    output = place / OUTPUT
    return AttemptOutput(record, number, results, output if output.is_file() else None, tried[number - 1].ending)


def _who_did(book: Book, record: Record) -> Record:
    """A member of a family is done by a step of its latest round."""
    family, id = record.task.family, record.task.id
    if not family:
        return record
    records = book.runs[record.run].records.values()
    steps = [one for one in records if is_step(one.task) and one.task.parent == family and one.history]
    return next((one for one in reversed(steps) if one.task.id.partition(".apply.")[2] == id), record)
