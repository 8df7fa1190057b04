"""The record of one attempt of an agent: what it printed, what that means, and the same in words."""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from manyhands.hosts.agents.agent_events import AgentEvent
from manyhands.hosts.agents.agent_files import ERRORS_FILE, RAW_FILE
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.agent_words import AgentWords
from manyhands.hosts.executors.attempt_steps import LOG_FILE
from manyhands.hosts.executors.output_text import one_line
from manyhands.readers.plain_file import open_plain


class AgentRecord:
    def __init__(self, directory: Path, heard: Callable[[AgentEvent, AgentTally], None]) -> None:
        """`heard` is called with each event once it is counted."""
        self.tally = AgentTally()
        self.last_at = time.monotonic()  # when something last came from the program
        self._heard = heard
        self._words = AgentWords()
        self._unwritten = ""
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as opened:
            self._raw = _open(directory / RAW_FILE, opened)
            self.errors = _open(directory / ERRORS_FILE, opened)
            self._log = _open(directory / LOG_FILE, opened)
            self._opened = opened.pop_all()

    def keep(self, raw: bytes) -> None:
        """Something has come from the program."""
        self.last_at = time.monotonic()
        with contextlib.suppress(OSError):  # a full disk loses the recording, but the attempt continues
            os.write(self._raw, raw)

    def keep_errors(self, raw: bytes) -> None:
        """Something has come on its standard error. That is not a sign of life: it may only complain of waiting."""
        with contextlib.suppress(OSError):
            os.write(self.errors, raw)

    def tell(self, events: Sequence[AgentEvent]) -> None:
        for event in events:
            self.tally.note(event)
            self._unwritten += self._words.lines(event)
            self._heard(event, self.tally)
        words, self._unwritten = self._unwritten, ""
        self._write(words)

    def remark(self, text: str) -> None:
        """Something that the program did not say itself, but whoever reads along should know. Written with the rest."""
        self._unwritten += f"{self._words.rest()}! {one_line(text)}\n"

    def close(self) -> None:
        self._write(self._unwritten + self._words.rest())
        self._opened.close()

    def _write(self, words: str) -> None:
        if words:
            with contextlib.suppress(OSError):
                os.write(self._log, words.encode(errors="replace"))


def _open(path: Path, opened: contextlib.ExitStack) -> int:
    descriptor = open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    opened.callback(os.close, descriptor)
    return descriptor
