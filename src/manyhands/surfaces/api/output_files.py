"""What attempts printed, piece by piece from their files; a secret is not cut in two by where a piece ends."""

import asyncio
import os
from pathlib import Path

from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import UnknownTask
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.request_types import ApiRequest, OutputQuery

PIECE_BYTES_MAX = 256 << 10
TAIL_BYTES = 4 << 10
NAME = "output.log"


async def output(office: ApiContext, asked: ApiRequest) -> answer_types.OutputAnswer:
    query: OutputQuery = asked.query
    record = office.record(asked.path["run"], asked.path["task"])
    history = record.history or []
    number = query.attempt or len(history)
    if not 1 <= number <= len(history):
        had = f"it has had {len(history)}" if history else "it has not been tried yet"
        raise UnknownTask(f"task `{record.task.id}` has no attempt {number}", had)
    is_over = history[number - 1].ended_at is not None
    path = output_path(office.directory, record.run, record.task.id, number)
    text, size = await asyncio.to_thread(read_piece, path, query.after, is_over)
    return answer_types.OutputAnswer(
        text=office.redact(text.decode(errors="replace").replace("\0", "")),
        next=min(query.after, size) + len(text),
        size=size,
        attempt=number,
    )


def output_path(directory: Path, run: str, task: str, number: int) -> Path:
    return Path(attempt_directory(directory, run, task, number)) / NAME


def read_piece(path: Path, after: int, is_over: bool) -> tuple[bytes, int]:
    """Whole lines from byte `after` on, at most one piece, and the size of all; what is unfinished comes later."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(after, size))
            piece = file.read(PIECE_BYTES_MAX)
    except OSError:
        return b"", 0
    is_last = min(after, size) + len(piece) >= size
    if not (is_last and is_over):
        whole = piece[: piece.rfind(b"\n") + 1]
        piece = whole if whole or len(piece) < PIECE_BYTES_MAX else piece  # one endless line: better cut than never
    return piece, size


def last_lines(path: Path) -> str:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            piece = file.read(TAIL_BYTES)
    except OSError:
        return ""
    if size > TAIL_BYTES:
        piece = piece.partition(b"\n")[2] or piece
    return piece.decode(errors="replace").replace("\0", "")
