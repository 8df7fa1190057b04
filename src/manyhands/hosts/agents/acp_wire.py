"""The two pipes to a process that speaks ACP, as a transport of messages for the library of the protocol."""

import asyncio
import contextlib
import json
import os
from collections import deque
from pathlib import Path
from typing import Any

from manyhands.hosts.agents.adapter import LINE_CHARACTERS_MAX

_PIECE_BYTES = 65_536


class AcpWire:
    """What is not a message, or is longer than one can be, is passed over: programs print banners and warnings too."""

    def __init__(self, fifo: Path) -> None:
        """The process reads from `fifo` and writes to `output`."""
        self.fifo = fifo
        os.mkfifo(fifo, 0o600)
        # Open in both directions, so that it can be opened before there is a process, and written to after it has died.
        self._outgoing = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._incoming, self.output = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._incoming, False)
        self._loop = asyncio.get_running_loop()
        self._begun = b""
        self._overlong = False
        self._unsent = b""
        self._messages: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()
        self._closed = False
        self._loop.add_reader(self._incoming, self._take)

    async def send(self, message: dict[str, Any]) -> None:
        if self._closed:
            raise ConnectionError("the process is gone")
        self._unsent += json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._push()

    async def receive(self) -> dict[str, Any] | None:
        while not self._messages:
            if self._closed:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        return self._messages.popleft()

    def hang_up(self) -> None:
        """The process is gone, or is to go: it sees the end of its input. What has arrived can still be received."""
        if self._closed:
            return
        self._closed = True
        self._loop.remove_writer(self._outgoing)
        self._loop.remove_reader(self._incoming)
        os.close(self.output)  # first, because the pipe would otherwise never end
        while self._take():
            pass
        os.close(self._incoming)
        os.close(self._outgoing)
        self._arrived.set()

    async def close(self) -> None:
        self.hang_up()

    def _push(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[os.write(self._outgoing, self._unsent[:_PIECE_BYTES]) :]
        if self._unsent:
            self._loop.add_writer(self._outgoing, self._push)
        else:
            self._loop.remove_writer(self._outgoing)

    def _take(self) -> bool:
        try:
            piece = os.read(self._incoming, _PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            return False
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for line in lines:
            if not self._overlong and (message := _message(line)) is not None:
                self._messages.append(message)
            self._overlong = False
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self._begun, self._overlong = b"", True
        self._arrived.set()
        return True


def _message(line: bytes) -> dict[str, Any] | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
