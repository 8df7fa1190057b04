"""What attempts printed, read piece by piece. Pieces end with a line, so that no secret is cut in two."""

import asyncio
import os
from pathlib import Path

from manyhands.readers.plain_file import open_plain
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.request_types import ApiRequest, OutputQuery
from manyhands.surfaces.verbs.attempt_output import attempt_number, output_path
from manyhands.surfaces.verbs.store_view import find_task

PIECE_BYTES_MAX = 256 << 10


async def output(context: ApiContext, asked: ApiRequest) -> answer_types.OutputAnswer:
    query: OutputQuery = asked.query
    record = find_task(context.book, asked.path["task"], asked.path["run"])
    number = attempt_number(record, query.attempt or None)
    history = record.history or []
    is_over = history[number - 1].ended_at is not None
    path = output_path(context.directory, record.run, record.task.id, number)
    text, size = await asyncio.to_thread(read_piece, path, query.after, is_over)
    return answer_types.OutputAnswer(
        text=context.redact(text.decode(errors="replace").replace("\0", "")),
        next=min(query.after, size) + len(text),
        size=size,
        attempt=number,
    )


def read_piece(path: Path, after: int, is_over: bool) -> tuple[bytes, int]:
    """Whole lines from byte `after` on, at most one piece, and the size of the file. An unfinished line comes later."""
    try:
        with open(open_plain(path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(after, size))
            piece = file.read(PIECE_BYTES_MAX)
    except OSError:
        return b"", 0
    is_last = min(after, size) + len(piece) >= size
    if not (is_last and is_over):
        whole = piece[: piece.rfind(b"\n") + 1]
        piece = whole if whole or len(piece) < PIECE_BYTES_MAX else piece  # a line longer than a piece is cut
    return piece, size
