"""All that is known of one task: its plan, its state and why, and every attempt at it."""

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from manyhands.core.explain import can_never_run, explain
from manyhands.core.state import AttemptRecord, Record
from manyhands.core.values.ending import Artefact, Ending
from manyhands.core.values.question import Judgement, Question
from manyhands.core.values.task import claims_of
from manyhands.engine.public_values import fields_of
from manyhands.engine.run_opening import attempt_directory
from manyhands.hosts.artefacts.artefact_files import COPIES
from manyhands.hosts.executors.live_facts import LiveFacts
from manyhands.readers.plain_file import open_plain
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.live_attempts import live_facts, live_reasons
from manyhands.surfaces.verbs.task_verbs import claims_row

#: How much of the output of a running attempt a report shows.
TAIL_BYTES = 4 << 10


class ArtefactRow(Struct):
    path: str  # in the workspace
    size_bytes: int
    sha256: str  # of its content when the attempt ended
    copy: str  # where a copy of it is kept; "": the file in the workspace is all there is


class AttemptRow(Struct):
    attempt: int  # its id in the whole store
    number: int  # its number among the attempts at the task
    host: str
    queued_at: float
    started_at: float
    ended_at: float | None
    ending: str  # "asks" if it stopped to ask a person; "" while it runs
    detail: str
    exit_code: int | None
    tokens_in: int  # so far, while it runs
    tokens_out: int
    cost: float | None  # None: unknown
    result: str
    tail: str  # the last lines it printed
    notes: list[str]  # what it wants remembered: "decision: …"
    judged: Judgement | None  # what a person decided about its work
    artefacts: list[ArtefactRow]  # what was saved and kept of it


class TaskReport(Struct):
    run: str
    task: str
    state: str
    since: float  # when it entered its state
    why: list[str]
    never: bool  # it waits for what will not come by itself
    plan: dict[str, Any]  # its fields as in a plan; the values of `env` are left out
    claims: list[str]
    attempts: list[AttemptRow]
    asks: Question | None  # what it asks a person now
    output: str  # the last lines that the latest attempt printed, also while it runs


def report_task(view: BookView, record: Record) -> TaskReport:
    live = live_facts(view.directory, record)
    return TaskReport(
        run=record.run,
        task=record.task.id,
        state=str(record.state),
        since=record.since,
        why=[reason for reason in (*explain(view.book, record, view.now), *live_reasons(view, record)) if reason],
        never=can_never_run(view.book, record),
        plan=fields_of(record.task),
        claims=claims_row(claims_of(record.task)),
        attempts=[
            _row(tried, number, Path(attempt_directory(view.directory, record.run, record.task.id, number)), live)
            for number, tried in enumerate(record.history or (), 1)
        ],
        asks=record.question,
        output=_tail(view, record),
    )


def _row(tried: AttemptRecord, number: int, directory: Path, live: LiveFacts | None) -> AttemptRow:
    ending = tried.ending
    used: Ending | LiveFacts | None = ending if ending is not None else live
    return AttemptRow(
        attempt=tried.attempt,
        number=number,
        host=tried.host,
        queued_at=queued_at(tried),
        started_at=tried.started_at,
        ended_at=tried.ended_at,
        ending=ending.word if ending else "",
        detail=ending.detail if ending else "",
        exit_code=ending.exit_code if ending else None,
        tokens_in=used.tokens_in if used else 0,
        tokens_out=used.tokens_out if used else 0,
        cost=used.cost if used else None,
        result=ending.result if ending else "",
        tail=ending.tail if ending else "",
        notes=[f"{note.kind}: {note.text}" for note in ending.notes] if ending else [],
        judged=tried.judged,
        artefacts=[_artefact_row(one, directory) for one in ending.artefacts] if ending else [],
    )


def _artefact_row(artefact: Artefact, directory: Path) -> ArtefactRow:
    copy = str(directory / COPIES / artefact.path) if artefact.is_copy else ""
    return ArtefactRow(artefact.path, artefact.size_bytes, artefact.sha256, copy)


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
