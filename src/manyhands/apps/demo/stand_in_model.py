"""A server that stands in for a model with a rate limit: it answers as OpenAI's protocol says, and refuses with 429.

It is started by its path, prints its port, and ends when its standard input is closed: it never outlives the demo. Its
only argument multiplies how long everything takes.
"""

import asyncio
import json
import sys
import time

#: How many requests it takes at once after a rest, and how many more each second.
BURST, PER_S = 14.0, 2.5
#: It refuses these of its requests in any case, so that the story is the same on a slow machine.
REFUSED = (15, 16)
RETRY_AFTER_S = 3.0
ANSWER_S = 2.5


class StandInModel:
    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._credit, self._at = BURST, time.monotonic()
        self._asked = 0

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> "asyncio.Task[None]":
        return asyncio.create_task(self._serve(reader, writer))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), "0")
                body = await reader.readexactly(int(length))
                await self._answer(json.loads(body) if body else {}, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()

    async def _answer(self, asked: dict[str, object], writer: asyncio.StreamWriter) -> None:
        now = time.monotonic()
        self._asked += 1
        self._credit = min(BURST, self._credit + (now - self._at) * PER_S / self._pace)
        self._at = now
        if self._credit < 1 or self._asked in REFUSED:
            said = {"error": {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit"}}
            await _send(writer, "429 Too Many Requests", said, f"retry-after: {RETRY_AFTER_S * self._pace:.2f}\r\n")
            return
        self._credit -= 1
        await asyncio.sleep(ANSWER_S * self._pace)
        message = {"role": "assistant", "content": "It does what its name says, and nothing else."}
        usage = {"prompt_tokens": 60, "completion_tokens": 12, "total_tokens": 72}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        named = {"id": "stand-in", "object": "chat.completion", "created": 0, "model": asked.get("model", "")}
        await _send(writer, "200 OK", {**named, "choices": [choice], "usage": usage})


async def _send(writer: asyncio.StreamWriter, status: str, body: object, more: str = "") -> None:
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n{more}\r\n"
    writer.write(head.encode() + content)
    await writer.drain()


async def _serve_until_alone(pace: float) -> None:
    server = await asyncio.start_server(StandInModel(pace).accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve_until_alone(float(sys.argv[1])))
