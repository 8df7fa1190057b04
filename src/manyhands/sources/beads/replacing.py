"""Reads the state of a file at one moment, and replaces it in one step unless it has changed since."""

import errno
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from manyhands.errors import Unavailable
from manyhands.readers.plain_file import open_plain

#: Reads to try while another program writes in place. A further read costs only its own time.
_READS_MAX = 5
BYTES_MAX = 1 << 30
_LEFTOVER_S = 60.0


class FileSnapshot(Struct, frozen=True):
    raw: bytes
    inode: int
    mtime_ns: int
    mode: int
    owner: tuple[int, int]


def take(file: Path) -> FileSnapshot:
    """The file at one moment, even if another program writes to it in place meanwhile."""
    try:
        for _ in range(_READS_MAX):
            with open(open_plain(file, through_links=True), "rb") as stream:
                before = os.fstat(stream.fileno())
                if before.st_size > BYTES_MAX:
                    raise OSError(errno.EFBIG, f"it has more than {BYTES_MAX:,} bytes")
                raw = stream.read(BYTES_MAX)
                after = os.fstat(stream.fileno())
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(raw) == after.st_size:
                break
    except OSError as error:
        raise Unavailable(
            f"cannot read `{file}`: {error.strerror}", "check that the file exists and that this user can read it"
        ) from error
    return FileSnapshot(raw, after.st_ino, after.st_mtime_ns, after.st_mode & 0o7777, (after.st_uid, after.st_gid))


def replace_unless_changed(file: Path, base: FileSnapshot, raw: bytes) -> bool:
    """Replace the file. False, without any change, if the file no longer equals `base`."""
    try:
        temporary = _written_beside(file, base, raw)
        try:
            now = take(file)
            if (now.inode, now.mtime_ns, now.raw) != (base.inode, base.mtime_ns, base.raw):
                return False
            os.replace(temporary, file)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        # Without this, a power failure may lose the new name although the content is safe.
        directory = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        hint = "make the directory writable for this user, with room for a second copy of the file"
        raise Unavailable(f"cannot write `{file}`: {error.strerror}", hint) from error
    return True


def _written_beside(file: Path, base: FileSnapshot, raw: bytes) -> str:
    fd, temporary = tempfile.mkstemp(prefix=_prefix(file), dir=file.parent)
    try:
        with open(fd, "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fchmod(fd, base.mode)
            if (os.geteuid(), os.getegid()) != base.owner:
                with suppress(PermissionError):
                    os.fchown(fd, *base.owner)
            os.fsync(fd)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


def _prefix(file: Path) -> str:
    return f".~{file.name}.mh-"


def remove_leftovers(file: Path) -> None:
    """Remove files of our writers that were killed. They are old enough that no such writer still runs."""
    long_ago = time.time() - _LEFTOVER_S
    for name in os.listdir(file.parent):
        if name.startswith(_prefix(file)):
            with suppress(OSError):
                leftover = file.parent / name
                if leftover.stat().st_mtime < long_ago:
                    leftover.unlink()
