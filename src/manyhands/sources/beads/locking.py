"""The lock that Beads itself takes, taken as it does: flock on `.jsonl.lock`, never on the file, which is replaced."""

import errno
import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from manyhands.errors import Unavailable

LOCK_NAME = ".jsonl.lock"
#: As long as Beads waits; it looks every 50 ms, which would leave the file idle between two writers of ours.
TIMEOUT_S = 30.0
_POLL_MIN_S, _POLL_MAX_S = 0.001, 0.01


@contextmanager
def exclusive(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Alone with `path`, a lock file or a directory, among all that ask for the same."""
    try:
        is_directory = path.is_dir()
        fd = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        hint = "the directory must be writable by this user"
        raise Unavailable(f"cannot open `{path}`: {error.strerror}", hint) from error
    with _held(fd, fcntl.LOCK_EX, path, timeout_s):
        yield


@contextmanager
def exclusive_in_turn(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """As `exclusive`, for a lock file: a writer that asks again at once queues behind those who wait already.

    The queue is a lock on the directory, held only while waiting for the file's. Whoever does not know of it is let in
    as before.
    """
    with ExitStack() as queue:
        queue.enter_context(exclusive(path.parent, timeout_s))
        with exclusive(path, timeout_s):
            queue.close()
            yield


@contextmanager
def shared(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Beside other readers and away from writers, if there is a lock to take: reading leaves no file behind."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        yield
        return
    with ExitStack() as queue:
        try:
            queue.enter_context(exclusive(path.parent, timeout_s))
        except Unavailable:
            os.close(fd)
            raise
        with _held(fd, fcntl.LOCK_SH, path, timeout_s):
            queue.close()
            yield


@contextmanager
def _held(fd: int, operation: int, path: Path, timeout_s: float) -> Iterator[None]:
    try:
        _acquire(fd, operation, path, timeout_s)
        try:
            yield
        finally:
            # Not by closing alone: a child forked meanwhile has a copy of the descriptor, and would keep the lock.
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
    finally:
        os.close(fd)


def _acquire(fd: int, operation: int, path: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    poll_s = _POLL_MIN_S
    while True:
        try:
            fcntl.flock(fd, operation | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                hint = "keep the backlog on a file system that can lock"
                raise Unavailable(f"cannot lock `{path}`: {error.strerror}", hint) from error
        if time.monotonic() >= deadline:
            hint = "another program is writing this backlog, or hangs doing so; `fuser` on the lock names it"
            raise Unavailable(f"`{path}` has been locked for {timeout_s:g} s", hint)
        # Uneven, so that writers in step with each other do not keep one out.
        time.sleep(poll_s * random.uniform(0.5, 1.0))
        poll_s = min(poll_s * 2, _POLL_MAX_S)
