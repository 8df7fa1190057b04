"""A small real HTTP server whose pages and manners a test can change while it runs."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class PageServer:
    pages: dict[str, bytes] = field(default_factory=dict)
    status: int = 200
    hanging: bool = False  # takes the connection and says nothing
    endless: bool = False  # begins an answer and never ends it
    asked: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)  # as last received
    url: str = ""
    _server: asyncio.Server | None = None
    _port: int = 0
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """As if killed: connections are cut and the port refuses new ones. `start` brings it back there."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            await self._server.wait_closed()
            self._server = None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while line := await reader.readline():
                while header := (await reader.readline()).decode().strip():
                    name, _, value = header.partition(": ")
                    self.headers[name.lower()] = value
                await self._respond(line.split()[1].decode(), writer)
        except OSError:
            pass  # the other side left, or we did
        finally:
            self._open.discard(writer)
            writer.close()

    async def _respond(self, path: str, writer: asyncio.StreamWriter) -> None:
        self.asked.append(path)
        if self.hanging:
            await asyncio.Event().wait()
        if self.endless:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n")
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)
        body = self.pages.get(path)
        status = 404 if body is None else self.status
        body = body or b""
        head = f"HTTP/1.1 {status} As Asked\r\ncontent-length: {len(body)}\r\nlocation: /elsewhere\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
