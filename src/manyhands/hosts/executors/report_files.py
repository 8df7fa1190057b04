"""Files that a task may have written: whatever is there, reading it neither blocks nor raises nor fills the memory.

The task chooses what stands at the path, so a link, a pipe, a device and an endless file are all to be expected.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

BYTES_MAX = 2**20


class UnusableReport(Exception):
    """Something is there, but it is not a report."""


def open_plain(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file that is not a link. Raises OSError if there is none."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name} is not a regular file")
    return descriptor


def read_report(path: Path) -> bytes | None:
    """What the file holds, or None if there is none."""
    try:
        with open(open_plain(path), "rb") as content:
            said = content.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableReport(str(error)) from error
    if len(said) > BYTES_MAX:
        raise UnusableReport(f"it has more than {BYTES_MAX:,} bytes")
    return said


def note_unusable(log: Path, name: str, why: object) -> None:
    """Say in the attempt's output that a report does not count."""
    line = f"manyhands: {name} is left out of account: {why}\n"
    with suppress(OSError), open(open_plain(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
        output.write(line.encode(errors="replace"))
