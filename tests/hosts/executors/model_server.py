"""A loopback stand-in for an OpenAI-compatible server: real HTTP, scripted answers, honest counts."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    body: Any = None  # JSON, or bytes sent as they are
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    hangs: bool = False
    cut: bool = False  # the connection is lost in the middle of the body


def says(text: str, finish_reason: str = "stop", **reply: Any) -> Reply:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 7, "completion_tokens": 11, "total_tokens": 18}
    return Reply({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}, **reply)


def streams(*pieces: str, gap_s: float = 0.0) -> Reply:
    chunks: list[Any] = [
        {"id": "x", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces
    ]
    chunks.append({"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    chunks.append({"id": "x", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 11}})
    return stream_of(*chunks, gap_s=gap_s)


def stream_of(*chunks: Any, gap_s: float = 0.0) -> Reply:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]
    return Reply("".join(lines).encode(), headers={"content-type": "text/event-stream"}, after_s=gap_s)


class ModelServer:
    """Answers by the last user message, else with `otherwise`; counts how many it holds at once."""

    def __init__(self) -> None:
        self.script: dict[str, Reply] = {}
        self.otherwise = says("fine")
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.now = 0
        self.peak = 0
        self.url = ""
        self._server: asyncio.Server | None = None
        self._answering: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1000)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                headers = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if line)
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.asked.append(body)
                self.headers.append(headers)
                self.now += 1
                self.peak = max(self.peak, self.now)
                try:
                    await self._answer(self._reply_to(body), reader, writer)
                finally:
                    self.now -= 1
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left
        finally:
            writer.close()

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        users = [m["content"] for m in body.get("messages", ()) if m["role"] == "user"]
        return next((self.script[text] for text in reversed(users) if text in self.script), self.otherwise)

    async def _answer(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if reply.hangs:
            await reader.read(1)
            raise ConnectionResetError
        await asyncio.sleep(reply.after_s)
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {"content-type": "application/json", "content-length": str(len(content)), **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} As Told\r\n{head}\r\n".encode())
        if reply.cut:
            writer.write(content[: len(content) // 2])
            await writer.drain()
            writer.transport.abort()
            raise ConnectionResetError
        writer.write(content)
        await writer.drain()
