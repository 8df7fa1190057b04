"""What is compared before anyone relies on a journal: its end with the mark, and the structure of its pages.

All of it is done on a connection that can only read. The last connection that can write clears the write-ahead log
away when it closes, and behind damage the log may hold what can still be saved.
"""

import logging
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

from manyhands.engine.store.contract.stored_rows import SALVAGE, damaged
from manyhands.engine.store.sqlite import row_chain
from manyhands.engine.store.sqlite.high_water_mark import SUFFIX, HighWaterMark, Kept, MarkFile, this_boot
from manyhands.errors import StoreBroken

_log = logging.getLogger(__name__)


def mark_path(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def check_files(path: Path) -> None:
    """Opening a pipe would wait without end, and SQLite opens whatever is there."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        file = path.with_name(name)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(file.stat().st_mode):
                raise StoreBroken(f"the journal's file `{file}` is not a regular file", SALVAGE)


def marks_of(path: Path) -> tuple[HighWaterMark, HighWaterMark] | None:
    """How far the events and the requests of the journal at `path` reach; None if it has no mark."""
    try:
        marks = MarkFile(mark_path(path))
    except FileNotFoundError:
        return None
    with closing(marks):
        return marks.read(Kept.EVENTS), marks.read(Kept.REQUESTS)


def check_absent(path: Path) -> None:
    """Where there are no events at all, none may have been marked."""
    marks = marks_of(path)
    if marks is not None and any(mark.number for mark in marks):
        raise _missing(path, 0, marks[0].number)


def check_end(connection: sqlite3.Connection, path: Path) -> None:
    """The journal reaches as far as its mark says. The mark is read first: a dispatcher may be writing both."""
    marks = marks_of(path)
    if marks is None:
        raise StoreBroken(
            f"the mark `{mark_path(path)}` is missing, so that nobody can tell whether `{path}` is complete", SALVAGE
        )
    boot = this_boot()
    events, requests = marks
    _check_events(connection, path, events, boot)
    needed, _ = requests.certain(boot)
    there = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'request'").fetchone()[0]
    if not isinstance(there, int) or there < needed:
        raise damaged(path, f"request {there}", f"requests up to {needed} are missing{_without_log(path)}")


def _check_events(connection: sqlite3.Connection, path: Path, mark: HighWaterMark, boot: str) -> None:
    needed, crc = mark.certain(boot)
    there, _ = row_chain.row_before(connection, 2**62)
    if there < needed:
        raise _missing(path, there, needed)
    if needed and row_chain.row_before(connection, needed) != (needed, crc):
        raise damaged(path, f"event {needed}", "it is not the event that its mark knows")
    if there < mark.number:
        _log.warning(
            'a power cut took events %d to %d of the journal `%s`; `durability = "power"` would have kept them',
            there + 1,
            mark.number,
            path,
        )


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """The structure of the whole file. The contents of rows are checked as they are read."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, "its pages", " ".join(str(found).split()))


def _missing(path: Path, there: int, needed: int) -> StoreBroken:
    return StoreBroken(
        f"the end of the journal `{path}` is missing: it ends with event {there:,}, and event {needed:,} was"
        f" recorded{_without_log(path)}",
        SALVAGE,
    )


def _without_log(path: Path) -> str:
    if not path.exists():
        return "; the file is not there"
    log = path.with_name(f"{path.name}-wal")
    there = log.exists() and log.stat().st_size > 0  # a reader makes an empty one
    return "" if there else f"; its log `{log.name}` is not there, as if it was copied without it"
