"""Runs `offline` in a process beside the dispatcher, and passes on its output as it comes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import msgspec
from starlette.responses import Response, StreamingResponse

from manyhands.errors import Unavailable
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.offline import NOT_FOUND, OfflineRequest
from manyhands.surfaces.api.picture.past import Past
from manyhands.surfaces.api.refusals import JSON, BadRequest
from manyhands.surfaces.api.request_types import ApiRequest
from manyhands.surfaces.verbs.store_view import find_run, find_task

#: Each of these processes uses a core for seconds.
AT_ONCE_MAX = 2
PIECE_BYTES = 64 << 10
REVIEW_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox"
STORY_BYTES_MAX = 64 << 20


async def recording(context: ApiContext, asked: ApiRequest) -> Response:
    return await _run_told(context, asked, "recording", JSON)


async def export_html(context: ApiContext, asked: ApiRequest) -> Response:
    return await _run_told(context, asked, "html", "text/html; charset=utf-8", f"{asked.path['run']}.html")


async def export_trace(context: ApiContext, asked: ApiRequest) -> Response:
    return await _run_told(context, asked, "trace", JSON, f"{asked.path['run']}.trace.json")


async def export_log(context: ApiContext, asked: ApiRequest) -> Response:
    return await _run_told(context, asked, "log", "application/jsonl", f"{asked.path['run']}.log.jsonl")


async def review_html(context: ApiContext, asked: ApiRequest) -> Response:
    """Shown in the browser: it has styles of its own, and nothing in it may run."""
    wanted = _wanted(context, "review", find_run(context.book, asked.path["run"]).name)
    wanted.directory, wanted.at = str(context.directory), context.now
    page = b"".join([piece async for piece in _told(context, wanted)])
    return Response(page, media_type="text/html; charset=utf-8", headers={"content-security-policy": REVIEW_POLICY})


async def story(context: ApiContext, asked: ApiRequest) -> answer_types.Story:
    record = find_task(context.book, asked.path["task"], asked.path["run"])
    pieces = _told(context, _wanted(context, "story", record.run, record.task.id))
    return msgspec.json.decode(b"".join([piece async for piece in pieces]), type=answer_types.Story)


async def past(context: ApiContext, until_seq: int) -> Past:
    """What happened up to that event, as far as a picture tells of it."""
    wanted = _wanted(context, "past", "")
    wanted.until_seq = until_seq
    return msgspec.json.decode(b"".join([piece async for piece in _told(context, wanted)]), type=Past)


async def _run_told(context: ApiContext, asked: ApiRequest, what: str, kind: str, file: str = "") -> Response:
    run = find_run(context.book, asked.path["run"])
    wanted = _wanted(context, what, run.name)
    wanted.gzip = asked.takes_gzip
    pieces = _told(context, wanted)
    # An error before the first piece can still be answered with its own status.
    first = await anext(pieces, b"")
    headers = {"content-encoding": "gzip", "vary": "accept-encoding"} if wanted.gzip else {}
    if file:
        headers["content-disposition"] = f"attachment; filename*=UTF-8''{_quoted(file)}"
    return StreamingResponse(_with_first(first, pieces), media_type=kind, headers=headers)


def _quoted(name: str) -> str:
    return "".join(one if one.isascii() and (one.isalnum() or one in "-._") else "_" for one in name)


async def _with_first(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in others:
        yield piece


def _wanted(context: ApiContext, what: str, run: str, task: str = "") -> OfflineRequest:
    where = context.where
    is_directory = not isinstance(where, str)
    return OfflineRequest(what, str(where), is_directory, run, task, secrets=context.secrets.known)


async def _told(context: ApiContext, wanted: OfflineRequest) -> AsyncIterator[bytes]:
    if context.at_work >= AT_ONCE_MAX:
        raise BadRequest(f"{AT_ONCE_MAX} recordings are being made already", "try again in a moment", status=429)
    context.at_work += 1
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "manyhands.surfaces.api.offline"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        try:
            async for piece in _talk(process, wanted):
                yield piece
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    finally:
        context.at_work -= 1


async def _talk(process: asyncio.subprocess.Process, wanted: OfflineRequest) -> AsyncIterator[bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(msgspec.json.encode(wanted))
    process.stdin.close()
    complaint = asyncio.create_task(process.stderr.read(10_000))
    while piece := await process.stdout.read(PIECE_BYTES):
        yield piece
    code = await process.wait()
    said = (await complaint).decode(errors="replace").strip().splitlines()
    if code == NOT_FOUND:
        raise Unavailable(f"run {wanted.run} is not in the journal yet", "try again in a moment")
    if code != 0:
        raise Unavailable(f"the journal cannot be read: {said[-1] if said else f'exit {code}'}", "see the server's log")
