"""Moves what was committed from the write-ahead log to the main file whenever the journal is at rest.

Then damage to the log, or a copy without it, costs nothing. While the journal is busy, SQLite does this by size.
"""

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from manyhands.engine.store.sqlite.high_water_mark import MarkFile

_log = logging.getLogger(__name__)
#: At rest means: nothing was written for this long. A mark that is written all the time is synced as often.
REST_S = 1.0


class IdleCheckpoint:
    """A thread with a connection of its own, so that it never holds up an append."""

    def __init__(self, path: Path, marks: MarkFile) -> None:
        self._path = path
        self._marks = marks
        self._stirred = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="checkpoint", daemon=True)
        self._thread.start()

    def stir(self) -> None:
        """Something was written."""
        if not self._stirred.is_set():
            self._stirred.set()

    def close(self) -> None:
        self._closing.set()
        self._stirred.set()
        self._thread.join()

    def _work(self) -> None:
        while True:
            self._stirred.wait()
            if self._closing.is_set():
                return
            self._stirred.clear()
            self._closing.wait(REST_S)
            try:
                self._tidy()
            except (sqlite3.Error, OSError) as error:
                _log.warning("the journal `%s` could not be tidied up: %s", self._path, error)

    def _tidy(self) -> None:
        """When it is closing, the connection that closes last does the rest."""
        number, crc = self._marks.latest_event
        if self._stirred.is_set():
            self._marks.sync()
        elif checkpoint(self._path):
            self._marks.note_synced(number, crc)


def checkpoint(path: Path) -> bool:
    """Whether everything in the log is in the main file now."""
    uri = f"{path.as_uri()}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=1.0)) as connection:
        return is_all_moved(connection)


def is_all_moved(connection: sqlite3.Connection) -> bool:
    busy, in_log, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return not busy and in_log == moved
