"""Takes the same lock as Beads itself: flock on `.jsonl.lock`, never on the file, which is replaced."""

import errno
import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from manyhands.errors import Unavailable
from manyhands.readers.plain_file import open_plain

LOCK_NAME = ".jsonl.lock"
#: As long as Beads waits. Beads tries every 50 ms, which would leave the file idle between two of our writers.
TIMEOUT_S = 30.0
_POLL_MIN_S, _POLL_MAX_S = 0.001, 0.01


@contextmanager
def exclusive(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Hold the exclusive lock on `path`, a lock file or a directory."""
    try:
        is_directory = path.is_dir()
        fd = os.open(path, os.O_RDONLY if is_directory else os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        hint = "make the directory writable for this user"
        raise Unavailable(f"cannot open `{path}`: {error.strerror}", hint) from error
    with _held(fd, fcntl.LOCK_EX, path, timeout_s):
        yield


@contextmanager
def exclusive_in_turn(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Like `exclusive`, for a lock file: a writer that asks again at once queues behind those that already wait.

    The queue is a lock on the directory, held only while waiting for the lock file. Programs that do not use the queue
    get the lock as before.
    """
    with ExitStack() as queue:
        queue.enter_context(exclusive(path.parent, timeout_s))
        with exclusive(path, timeout_s):
            queue.close()
            yield


@contextmanager
def shared(path: Path, timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """Hold a shared lock, if the lock file exists. Reading does not create it."""
    try:
        fd = open_plain(path, through_links=True)
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
            # Closing is not enough: a child forked meanwhile has a copy of the descriptor and would keep the lock.
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
                hint = "keep the backlog on a file system that supports locks"
                raise Unavailable(f"cannot lock `{path}`: {error.strerror}", hint) from error
        if time.monotonic() >= deadline:
            hint = "another program is writing this backlog, or hangs; run `fuser` on the lock to find it"
            raise Unavailable(f"`{path}` has been locked for {timeout_s:g} s", hint)
        # A random delay, so that writers in step with each other do not shut one out.
        time.sleep(poll_s * random.uniform(0.5, 1.0))
        poll_s = min(poll_s * 2, _POLL_MAX_S)
