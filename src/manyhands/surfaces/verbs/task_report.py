"""All that is known of one task: its plan, its state and why, and every attempt at it."""

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from manyhands.core.explain import explain
from manyhands.core.state import AttemptRecord, Record
from manyhands.core.values.task import claims_of
from manyhands.engine.public_values import fields_of
from manyhands.readers.plain_file import open_plain
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.task_verbs import claims_row

#: How much of the output of a running attempt a report shows.
TAIL_BYTES = 4 << 10


class AttemptRow(Struct):
    attempt: int  # its id in the whole store
    number: int  # its number among the attempts at the task
    host: str
    queued_at: float
    started_at: float
    ended_at: float | None
    ending: str  # "" while it runs
    detail: str
    exit_code: int | None
    tokens_in: int
    tokens_out: int
    cost: float | None  # None: unknown
    result: str
    tail: str  # the last lines it printed
    notes: list[str]  # what it wants remembered: "decision: …"


class TaskReport(Struct):
    run: str
    task: str
    state: str
    since: float  # when it entered its state
    why: list[str]
    plan: dict[str, Any]  # its fields as in a plan; the values of `env` are left out
    claims: list[str]
    attempts: list[AttemptRow]
    output: str  # the last lines that the latest attempt printed, also while it runs


def report_task(view: BookView, record: Record) -> TaskReport:
    return TaskReport(
        run=record.run,
        task=record.task.id,
        state=str(record.state),
        since=record.since,
        why=[reason for reason in explain(view.book, record, view.now) if reason],
        plan=fields_of(record.task),
        claims=claims_row(claims_of(record.task)),
        attempts=[_row(tried, number) for number, tried in enumerate(record.history or (), 1)],
        output=_tail(view, record),
    )


def _row(tried: AttemptRecord, number: int) -> AttemptRow:
    ending = tried.ending
    return AttemptRow(
        attempt=tried.attempt,
        number=number,
        host=tried.host,
        queued_at=queued_at(tried),
        started_at=tried.started_at,
        ended_at=tried.ended_at,
        ending=str(ending.kind) if ending else "",
        detail=ending.detail if ending else "",
        exit_code=ending.exit_code if ending else None,
        tokens_in=ending.tokens_in if ending else 0,
        tokens_out=ending.tokens_out if ending else 0,
        cost=ending.cost if ending else None,
        result=ending.result if ending else "",
        tail=ending.tail if ending else "",
        notes=[f"{note.kind}: {note.text}" for note in ending.notes] if ending else [],
    )


def queued_at(tried: AttemptRecord) -> float:
    return tried.started_at if tried.queued_at is None else tried.queued_at


def _tail(view: BookView, record: Record) -> str:
    history = record.history or []
    if history and history[-1].ending is None:
        return last_lines(output_path(view.directory, record.run, record.task.id, len(history)))
    return record.last_ending.tail if record.last_ending is not None else ""


def last_lines(path: Path) -> str:
    try:
        with open(open_plain(path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            piece = file.read(TAIL_BYTES)
    except OSError:
        return ""
    if size > TAIL_BYTES:
        piece = piece.partition(b"\n")[2] or piece
    return piece.decode(errors="replace").replace("\0", "")
