"""Prepares text of attempts for the journal: bounded, decodable, without NULs."""

import os
from pathlib import Path

from manyhands.readers.plain_file import open_plain, write_plain

TAIL_BYTES = 2_048
#: The whole answer of a model, an agent or a command, in the directory of the attempt.
ANSWER_FILE = "result.txt"
ANSWER_BYTES_MAX = 256 << 20
RESULT_CHARACTERS_MAX = 32_000
_LINE_CHARACTERS_MAX = 300


def tail_of(path: Path, since: int = 0, bytes_max: int = TAIL_BYTES) -> str:
    """The last lines of the file, from byte `since` on; "" if there is no such file."""
    try:
        descriptor = open_plain(path)
    except OSError:
        return ""
    try:
        return tail_of_open(descriptor, since, bytes_max)
    finally:
        os.close(descriptor)


def tail_of_open(descriptor: int, since: int = 0, bytes_max: int = TAIL_BYTES) -> str:
    """The last lines of an open file. What has its name by now may be something else."""
    begin = max(since, os.fstat(descriptor).st_size - bytes_max)
    try:
        content = os.pread(descriptor, bytes_max, begin)
    except OSError:
        return ""
    if begin > since:
        _, _, whole_lines = content.partition(b"\n")
        content = whole_lines or content  # one very long line: part of it is better than nothing
    return content.decode(errors="replace").replace("\0", "")


def tail_of_text(text: str) -> str:
    """The last lines of a text, as `tail_of` gives those of a file."""
    if len(text) <= TAIL_BYTES:
        return clean(text)
    cut = text[-TAIL_BYTES:]
    return clean(cut.partition("\n")[2] or cut)


def last_line(text: str) -> str:
    """The last line that is not empty, cut to fit into a detail."""
    return one_line(next((line for line in reversed(text.splitlines()) if line.strip()), ""))


def one_line(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= _LINE_CHARACTERS_MAX else line[: _LINE_CHARACTERS_MAX - 1] + "…"


def clean(text: str) -> str:
    """The text without characters that break JSON or terminals: NULs and halves of surrogate pairs."""
    if text.isascii():
        return text.replace("\0", "")
    return text.encode(errors="replace").decode().replace("\0", "")


def keep_short(text: str) -> str:
    """A result as the journal keeps it."""
    return clean(text[:RESULT_CHARACTERS_MAX])


def keep_result(text: str, directory: Path, name: str, always: bool = False) -> str:
    """The result as the journal keeps it. A longer one (with `always`: every one) is also written to a file in full."""
    if always or len(text) > RESULT_CHARACTERS_MAX:
        directory.mkdir(parents=True, exist_ok=True)
        write_plain(directory / name, text.encode(errors="replace"))
    return keep_short(text)


def named(error: BaseException) -> str:
    """An error by its class and its message."""
    try:
        message = str(error)
    except Exception:  # an exception class of the user's code may fail here
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
