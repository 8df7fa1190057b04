"""Allows one dispatcher per directory, by an flock that the kernel releases however its holder dies."""

import fcntl
import os
from pathlib import Path

from manyhands.errors import StoreBroken, StoreBusy
from manyhands.readers.plain_file import open_plain

_held: set[int] = set()


def _let_go_in_child() -> None:
    # An flock lives as long as any copy of its descriptor. A forked worker that outlives the dispatcher would otherwise
    # keep the next one out.
    for fd in _held:
        os.close(fd)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_child)


class DirectoryLock:
    def __init__(self, directory: Path) -> None:
        path = directory / "lock"
        try:
            self._fd = open_plain(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StoreBroken(
                f"cannot open `{path}`: {error.strerror}",
                "it must be a file, and the directory must be writable by this user",
            ) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode("ascii", "replace").strip()
            os.close(self._fd)
            if not isinstance(error, BlockingIOError):
                raise StoreBroken(
                    f"cannot lock `{path}`: {error.strerror}", "keep the journal on a local file system"
                ) from error
            raise StoreBusy(
                f"the journal in `{directory}` is in use by process {holder or '(unknown)'}",
                "one dispatcher works on a journal at a time: wait for it, stop it, or use another directory",
            ) from None
        _held.add(self._fd)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        if self._fd in _held:
            _held.discard(self._fd)
            os.close(self._fd)
            self._fd = -1  # by the next call another lock may have this number
