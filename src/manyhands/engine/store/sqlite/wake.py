"""A datagram socket in the journal's directory. Whoever leaves a request wakes the dispatcher through it."""

import contextlib
import os
from pathlib import Path

from manyhands.errors import StoreBroken


class WakeSocket:
    """The dispatcher's end. It may replace a socket at its path, because it holds the directory's lock."""

    def __init__(self, directory: Path) -> None:
        import socket  # imported here and below, because a command that only reads the journal needs no sockets

        self._path = directory / "wake"
        _remove(self._path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            self._bind()
        except OSError as error:
            self._socket.close()
            raise StoreBroken(
                f"cannot create the socket `{self._path}`: {error}", "the directory must be writable by this user"
            ) from error

    def _bind(self) -> None:
        try:
            self._socket.bind(str(self._path))
        except OSError:
            # The path is too long for a socket (107 bytes), or its file system has no sockets.
            elsewhere = _short_directory() / "wake"
            self._socket.bind(str(elsewhere))
            self._path.symlink_to(elsewhere)

    def fileno(self) -> int:
        return self._socket.fileno()

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(1)

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._socket.close()
            _remove(self._path)


def wake(directory: Path) -> bool:
    """Wake the dispatcher of this directory. Was there one?"""
    import socket

    path = directory / "wake"
    with (
        # There is no dispatcher, or only the socket that one left behind.
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender,
    ):
        # If the socket is full, one more wake-up makes no difference.
        with contextlib.suppress(BlockingIOError):
            sender.sendto(b"!", str(path.readlink() if path.is_symlink() else path))
        return True
    return False


def _short_directory() -> Path:
    import tempfile

    made = tempfile.mkdtemp(prefix="manyhands-")
    if len(os.fsencode(made)) > 90:
        os.rmdir(made)
        import tempfile

    made = tempfile.mkdtemp(prefix="manyhands-", dir="/tmp")
    return Path(made)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_symlink():
            elsewhere = path.readlink()
            if elsewhere.is_socket():
                elsewhere.unlink()
                elsewhere.parent.rmdir()
    with contextlib.suppress(OSError):
        path.unlink()
