"""Who asked for what, when, and from where: a line for each command, in a file of the store.

The journal has what was done. This file has who wanted it, also if it was refused.
"""

import getpass
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.errors import StoreBroken
from manyhands.readers.plain_file import open_plain

FILE = "audit.jsonl"
_TEXT_MAX = 500


class AuditLine(Struct, frozen=True, omit_defaults=True):
    at: float
    who: str  # the name of a token, or the user of this machine
    came_from: str  # an address, `command line` or `mcp`
    asked: str  # the command
    answer: str = ""  # the status of an HTTP answer


def user_here() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


def note_command(directory: Path, line: AuditLine) -> None:
    """Append one line. A single write, so that lines of several processes do not mix. Raises StoreBroken."""
    short = AuditLine(line.at, line.who[:_TEXT_MAX], line.came_from[:_TEXT_MAX], line.asked[:_TEXT_MAX], line.answer)
    path = directory / FILE
    try:
        with open(open_plain(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab", buffering=0) as file:
            file.write(msgspec.json.encode(short) + b"\n")
    except OSError as error:
        raise StoreBroken(
            f"cannot write the audit trail `{path}`: {error.strerror}", "the request itself was made; see what is there"
        ) from error


def read_audit(directory: Path) -> Iterator[AuditLine]:
    """Every line that can be read, the oldest first."""
    path = directory / FILE
    try:
        fd = open_plain(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreBroken(
            f"cannot read the audit trail `{path}`: {error.strerror}", f"`rm {path}`: the next command begins a new one"
        ) from error
    with open(fd, "rb") as file:
        yield from _lines(file)


def _lines(file: Iterable[bytes]) -> Iterator[AuditLine]:
    decoder = msgspec.json.Decoder(AuditLine)
    for line in file:
        try:
            yield decoder.decode(line)
        except (ValueError, RecursionError):
            continue  # torn by a crash or a full disk; the others still tell
