"""A file's bytes and text, or the reason why it cannot be read."""

import os
import stat
from pathlib import Path

from manyhands.readers.plain_file import read_plain
from manyhands.readers.problems import Problem, Problems

BOM = b"\xef\xbb\xbf"
#: A larger document does not fit into memory while it is parsed. Plans in JSONL are read line by line instead.
BYTES_MAX = 1 << 30
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")


def obstacle(file: Path, name: str, kind: str) -> Problem | None:
    """Why there is no such file, if so. Opening the file finds all other problems."""
    try:
        mode = os.stat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Problem(file=name, message="there is no such file", hint="check the path for typos")
    except OSError as error:
        return unreadable(name, error)
    except ValueError:
        return Problem(file=name, message="is not a path: it has a NUL", hint="check the path for typos")
    if stat.S_ISDIR(mode):
        return Problem(file=name, message="is a directory", hint=f"name a {kind} inside it")
    if not stat.S_ISREG(mode):
        return Problem(file=name, message="is not a regular file", hint=f"write the {kind} to a file first")
    return None


def unreadable(name: str, error: OSError) -> Problem:
    hint = (
        f"`chmod u+r {name}` lets its owner read it" if isinstance(error, PermissionError) else "try another copy of it"
    )
    return Problem(file=name, message=f"cannot be read: {(error.strerror or str(error)).lower()}", hint=hint)


def whole_file(file: Path) -> bytes:
    """The bytes of a regular file of bounded size. Raises OSError."""
    return read_plain(file, BYTES_MAX, through_links=True)


def decoded(raw: bytes, name: str, problems: Problems) -> str | None:
    """The text of a file, without a byte-order mark; None if it is not UTF-8."""
    raw = raw.removeprefix(BOM)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problems.add(not_utf8(name, line, raw[error.start : error.start + 1], raw[:2]))
        return None


def not_utf8(name: str, line: int, byte: bytes, start: bytes = b"") -> Problem:
    utf16 = start in _OTHER_ENCODINGS
    return Problem(
        file=name,
        line=line,
        value=f"0x{byte.hex()}",
        message=f"is not UTF-8: byte 0x{byte.hex()}",
        hint="it looks like UTF-16; save the file as UTF-8" if utf16 else "save the file as UTF-8",
    )
