"""Listens to one run of an agent program: records everything it prints, and what that means."""

import asyncio
import os
from collections.abc import Callable

from manyhands.hosts.agents.adapter import LINE_CHARACTERS_MAX, LineMoment, OutputReader
from manyhands.hosts.agents.agent_record import AgentRecord

_PIECE_BYTES = 65_536


class AgentListener:
    def __init__(self, record: AgentRecord, reader: OutputReader, moment: Callable[[], LineMoment]) -> None:
        self._record = record
        self._reader = reader
        self._moment = moment
        self._begun = b""
        self._overlong = False
        self._loop = asyncio.get_running_loop()
        self._incoming, self.output = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._incoming, False)
        self._loop.add_reader(self._incoming, self._take)

    def close(self, exit_code: int) -> None:
        """Its process is gone. Read what is left in the pipe, and add what follows from the exit."""
        self._loop.remove_reader(self._incoming)
        os.close(self.output)  # first, because the pipe would otherwise never end
        while self._take():
            pass
        os.close(self._incoming)
        if self._begun:
            self._line(self._begun)
        for event in self._reader.finish(exit_code, self._moment()):
            self._record.tell(event)

    def _take(self) -> bool:
        try:
            piece = os.read(self._incoming, _PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self._loop.remove_reader(self._incoming)
            return False
        self._record.keep(piece)
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for line in lines:
            if not self._overlong:
                self._line(line)
            self._overlong = False
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self._begun, self._overlong = b"", True
        return True

    def _line(self, line: bytes) -> None:
        for event in self._reader.read(line.decode(errors="replace"), self._moment()):
            self._record.tell(event)
