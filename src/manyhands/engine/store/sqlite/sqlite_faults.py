"""Turns what SQLite reports into errors that a person can act on."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyhands.engine.store.contract.stored_rows import SALVAGE, damaged
from manyhands.errors import ManyhandsError, StoreBroken, StoreBusy


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Raises faults of the file at `path` as our own errors, which name it."""
    try:
        yield
    except sqlite3.Error as error:
        raise _ours(error, path) from error


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Like `named`, for calls where SQLite may quote damaged text that Python cannot decode."""
    try:
        with named(path):
            yield
    except UnicodeDecodeError as error:
        raise damaged(path, "its table definitions", str(error.object)) from error


def _ours(error: sqlite3.Error, path: Path) -> ManyhandsError:
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"the journal `{path}` stayed locked by another process", "try again; `fuser` on the file names it"
        )
    if code == "SQLITE_FULL":
        return StoreBroken(
            f"no room to write the journal `{path}`: the disk is full",
            "free some space and run the same command again; everything acknowledged is kept",
        )
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StoreBroken(
            f"the journal `{path}` cannot be opened for this: {error}",
            "the file and its directory must exist and be writable by this user",
        )
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_CONSTRAINT")):
        return StoreBroken(f"the journal `{path}` is damaged: {error}", SALVAGE)
    if code == "SQLITE_NOTADB":
        return StoreBroken(f"`{path}` is not a manyhands journal: {error}", SALVAGE)
    return StoreBroken(
        f"the journal `{path}` cannot be read or written: {error}",
        "the disk or its file system may be failing; everything acknowledged is kept",
    )
