"""Opens files that others may have put there: this neither blocks, nor follows a link, nor fills the memory.

Whoever may write to a place chooses what is there: a link, a pipe, a device and an endless file are all possible.
"""

import errno
import os
import stat


def open_plain(path: str | os.PathLike[str], flags: int = os.O_RDONLY, *, through_links: bool = False) -> int:
    """A descriptor of a regular file. Raises OSError if there is none; a link is followed only if that is allowed."""
    links = 0 if through_links else os.O_NOFOLLOW
    not_plain = OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    try:
        descriptor = os.open(path, flags | links | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ELOOP):  # a pipe that nobody reads, or a link
            raise not_plain from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise not_plain
    os.set_blocking(descriptor, True)  # a process that inherits it expects that
    return descriptor


def read_plain(path: str | os.PathLike[str], bytes_max: int, *, through_links: bool = False) -> bytes:
    """What the file holds. Raises OSError if it is not a regular file, or holds more than `bytes_max`."""
    with open(open_plain(path, through_links=through_links), "rb") as file:
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"it has more than {bytes_max:,} bytes", os.fspath(path))
    return content


def write_plain(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a regular file, over what one with this name holds."""
    with open(open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(content)


def is_plain(path: str | os.PathLike[str]) -> bool:
    """Whether a regular file has this name, and not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
