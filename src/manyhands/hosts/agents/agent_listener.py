"""Listens to one run of an agent program: keeps everything it prints, and reports what it does as it happens."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from manyhands.hosts.agents.adapter import LINE_CHARACTERS_MAX, LineMoment, OutputReader
from manyhands.hosts.agents.agent_events import AgentEvent
from manyhands.hosts.agents.agent_files import ERRORS_FILE, RAW_FILE
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.agent_words import AgentWords
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.readers.plain_file import open_plain

_PIECE_BYTES = 65_536


class AgentListener:
    def __init__(
        self,
        directory: Path,
        reader: OutputReader,
        moment: Callable[[], LineMoment],
        heard: Callable[[AgentEvent, AgentTally], None],
    ) -> None:
        """`heard` is called with each event once it is counted."""
        self.tally = AgentTally()
        self.last_at = time.monotonic()  # when it last printed anything
        self._reader = reader
        self._moment = moment
        self._heard = heard
        self._words = AgentWords()
        self._begun = b""
        self._overlong = False
        self._loop = asyncio.get_running_loop()
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as opened:
            self._raw = _open(directory / RAW_FILE, opened)
            self.errors = _open(directory / ERRORS_FILE, opened)
            self._log = _open(directory / LOG_FILE, opened)
            self._incoming, self.output = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self._incoming, False)
            self._opened = opened.pop_all()
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
            self._tell(event)
        self._write(self._words.rest())
        self._opened.close()

    def _take(self) -> bool:
        try:
            piece = os.read(self._incoming, _PIECE_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self._loop.remove_reader(self._incoming)
            return False
        self.last_at = time.monotonic()
        with contextlib.suppress(OSError):  # a full disk loses the recording, but the attempt continues
            os.write(self._raw, piece)
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
            self._tell(event)

    def _tell(self, event: AgentEvent) -> None:
        self.tally.note(event)
        self._write(self._words.lines(event))
        self._heard(event, self.tally)

    def _write(self, words: str) -> None:
        if words:
            with contextlib.suppress(OSError):
                os.write(self._log, words.encode(errors="replace"))


def _open(path: Path, opened: contextlib.ExitStack) -> int:
    descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    opened.callback(os.close, descriptor)
    return descriptor
