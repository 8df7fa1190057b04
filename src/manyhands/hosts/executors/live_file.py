"""Writes what a running attempt does just now to its file. Readers are apart: they need no event loop."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from manyhands.hosts.executors.live_facts import LIVE_FILE, LiveFacts
from manyhands.readers.plain_file import write_plain

#: A page and a person look no more often than that.
_EVERY_S = 1.0


class LiveFile:
    """Keeps the facts of one attempt in its file: the first at once, later ones about once a second."""

    def __init__(self, directory: Path, facts: Callable[[], LiveFacts]) -> None:
        self._path = directory / LIVE_FILE
        self._facts = facts
        self._written_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def changed(self) -> None:
        """The facts are others now. This costs next to nothing, however often it happens."""
        if self._timer is None:
            wait_s = self._written_at + _EVERY_S - self._loop.time()
            if wait_s <= 0:
                self._write()
            else:
                self._timer = self._loop.call_later(wait_s, self._write)

    def close(self) -> None:
        """The attempt has ended, and its ending says more."""
        if self._timer is not None:
            self._timer.cancel()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._timer = None
        self._written_at = self._loop.time()
        made = self._path.with_suffix(".new")
        with contextlib.suppress(OSError):  # a full disk leaves the page without it, and the attempt continues
            write_plain(made, msgspec.json.encode(self._facts()))
            os.replace(made, self._path)
