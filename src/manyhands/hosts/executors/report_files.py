"""Files that a task may have written: whatever is there, reading it neither blocks nor raises nor fills the memory.

The task chooses what stands at the path, so a link, a pipe, a device and an endless file are all to be expected.
"""

import os
from contextlib import suppress
from pathlib import Path

from manyhands.readers.plain_file import open_plain, read_plain

BYTES_MAX = 2**20


class UnusableReport(Exception):
    """Something is there, but it is not a report."""


def read_report(path: Path) -> bytes | None:
    """What the file holds, or None if there is none."""
    try:
        return read_plain(path, BYTES_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableReport(str(error.strerror)) from error


def note_unusable(log: Path, name: str, why: object) -> None:
    """Say in the attempt's output that a report does not count."""
    line = f"manyhands: {name} is left out of account: {why}\n"
    with suppress(OSError), open(open_plain(log, os.O_WRONLY | os.O_APPEND), "ab") as output:
        output.write(line.encode(errors="replace"))
