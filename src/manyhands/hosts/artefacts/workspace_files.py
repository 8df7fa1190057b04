"""Opens directories and files below the workspace, one name at a time, and follows no link on the way.

Tasks write to the workspace, so any name on the way may have become a link that leads out of it.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def directory_in(root: Path, names: list[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of the directory. Raises OSError if it is not there, or not without following a link."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            if name in ("", ".", "..") or "/" in name:
                raise OSError(errno.EINVAL, "the path leaves the workspace", "/".join(names))
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=here)
            try:
                below = os.open(name, _DIRECTORY, dir_fd=here)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise OSError(errno.ENOTDIR, f"`{name}` is a link or a file, not a directory") from error
                raise
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def replace_file(root: Path, path: str, pieces: Iterable[bytes]) -> None:
    """Write the file in one step: whoever reads it sees the old content or the new, also after a crash."""
    *above, name = path.split("/")
    with directory_in(root, above, make=True) as directory:
        half = f".~{name[:100]}.{secrets.token_hex(4)}"
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=directory)
        try:
            with open(descriptor, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            # A link with this name is replaced, not followed.
            os.rename(half, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(half, dir_fd=directory)
            raise
        os.fsync(directory)


def open_file(directory: int, name: str) -> BinaryIO:
    """A regular file to read. Raises OSError for anything else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", name)
    return open(descriptor, "rb")
