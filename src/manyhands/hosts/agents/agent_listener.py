"""Listens to one run of an agent program: records everything it prints, and what that means."""

import asyncio
import os
from collections.abc import Callable

from manyhands.hosts.agents.adapter import LINE_CHARACTERS_MAX, LineMoment, OutputReader
from manyhands.hosts.agents.agent_events import AgentEvent
from manyhands.hosts.agents.agent_record import AgentRecord

_PIECE_BYTES = 65_536
#: A program that prints line by line is not heard line by line, because each time costs more than the line itself.
_APART_S = 0.1
#: A piece of this size means that the program prints a lot, and must not wait for room in the pipe.
_MUCH_BYTES = 16_384


class AgentListener:
    """`output` is what the program prints to; `errors` its standard error, if its reader wants to hear that as well."""

    def __init__(self, record: AgentRecord, reader: OutputReader, moment: Callable[[], LineMoment]) -> None:
        self._record = record
        self._reader = reader
        self._moment = moment
        self._printed = LinePipe(record.keep, self._lines)
        self._warned = LinePipe(record.keep_errors, self._warnings) if reader.hears_errors else None
        self.output = self._printed.output
        self.errors = record.errors if self._warned is None else self._warned.output

    def close(self, exit_code: int) -> None:
        """Its process is gone. Read what is left in the pipes, and add what follows from the exit."""
        if self._warned is not None:
            self._warned.close()
        self._printed.close()
        self._record.tell(self._reader.finish(exit_code, self._moment()))

    def _lines(self, lines: list[bytes]) -> None:
        moment, read = self._moment(), self._reader.read
        events: list[AgentEvent] = []
        for line in lines:
            events += read(line.decode(errors="replace"), moment)
        self._record.tell(events)

    def _warnings(self, lines: list[bytes]) -> None:
        self._record.tell([event for line in lines for event in self._reader.warned(line.decode(errors="replace"))])


class LinePipe:
    """A pipe that a process writes to. What arrives is kept as it is, and passed on as whole lines."""

    def __init__(self, keep: Callable[[bytes], None], take: Callable[[list[bytes]], None]) -> None:
        self._keep = keep
        self._take = take
        self._begun = b""
        self._overlong = False
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._incoming, self.output = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._incoming, False)
        self._listen()

    def close(self) -> None:
        """Its process is gone: what is left is read now."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._incoming)
        os.close(self.output)  # first, because the pipe would otherwise never end
        while self._read():
            pass
        os.close(self._incoming)
        if self._begun:
            self._take([self._begun])

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_reader(self._incoming, self._arrived)

    def _arrived(self) -> None:
        if self._read() < _MUCH_BYTES:
            self._loop.remove_reader(self._incoming)
            self._pause = self._loop.call_later(_APART_S, self._listen)

    def _read(self) -> int:
        """How many bytes there were."""
        try:
            piece = os.read(self._incoming, _PIECE_BYTES)
        except BlockingIOError:
            return 0
        if not piece:
            return 0
        self._keep(piece)
        *lines, self._begun = (self._begun + piece).split(b"\n")
        if lines and self._overlong:
            del lines[0]
            self._overlong = False
        if lines:
            self._take(lines)
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self._begun, self._overlong = b"", True
        return len(piece)
