"""Chat completions, sent whole or streamed while they are generated."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.responses import Response, StreamingResponse

from manyhands.worker.backends.backend import Chat
from manyhands.worker.http.bodies import (
    BadBody,
    Body,
    all_failed,
    app_of,
    as_json,
    flag_field,
    number_field,
    priority_of,
    refused,
    trouble_told,
)
from manyhands.worker.http.models_named import model_for
from manyhands.worker.loop.text_requests import TextRequests
from manyhands.worker.values.item_answers import ItemAnswer, Trouble


class Chatting:
    def __init__(self, texts: TextRequests) -> None:
        self._texts = texts

    async def completions(self, body: Body) -> Response:
        model = model_for(self._texts.engine, body, "generate")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
            raise BadBody("`messages` must be a list of at least one message")
        number_field(body, "max_tokens")
        number_field(body, "max_completion_tokens")
        app, priority = app_of(body), priority_of(body)
        if flag_field(body, "stream"):
            return await self._streamed(model, body, app, priority)
        answer = await self._texts.chat(model, Chat({**body, "stream": False}), app, priority)
        if isinstance(answer, Trouble):
            return all_failed([answer])
        return as_json({**answer.output, "model": model})

    async def _streamed(self, model: str, body: Body, app: str, priority: int) -> Response:
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[dict[str, Any] | ItemAnswer | Trouble | BaseException] = asyncio.Queue()
        gone = False

        def told(piece: dict[str, Any]) -> bool:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)
            return gone

        async def make() -> None:
            try:
                await pieces.put(await self._texts.chat(model, Chat({**body, "stream": True}, told), app, priority))
            except Exception as error:
                await pieces.put(error)

        making = asyncio.create_task(make())
        first = await pieces.get()
        # Nothing was sent yet, so the status can still report an error.
        if isinstance(first, Exception):
            return refused(first)
        if isinstance(first, Trouble):
            return all_failed([first])

        async def lines() -> AsyncIterator[bytes]:
            nonlocal gone
            try:
                piece: Any = first
                while isinstance(piece, dict):
                    yield b"data: " + msgspec.json.encode({**piece, "model": model}) + b"\n\n"
                    piece = await pieces.get()
                if isinstance(piece, Trouble):
                    yield b"data: " + msgspec.json.encode({"error": trouble_told(piece)}) + b"\n\n"
                elif isinstance(piece, BaseException):
                    yield b"data: " + bytes(refused(Exception(str(piece))).body) + b"\n\n"
                yield b"data: [DONE]\n\n"
            finally:
                gone = True
                making.cancel()

        return StreamingResponse(lines(), media_type="text/event-stream")
