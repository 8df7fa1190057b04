"""Who asked for what, when, and from where: a line for each command, in a file of the store.

The journal has what was done. This file has who wanted it, also if it was refused.
"""

import getpass
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

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
    """Append one line. A single write, so that lines of several processes do not mix."""
    short = AuditLine(line.at, line.who[:_TEXT_MAX], line.came_from[:_TEXT_MAX], line.asked[:_TEXT_MAX], line.answer)
    fd = os.open(directory / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        os.write(fd, msgspec.json.encode(short) + b"\n")
    finally:
        os.close(fd)


def read_audit(directory: Path) -> Iterator[AuditLine]:
    """Every line that can be read, the oldest first."""
    try:
        fd = open_plain(directory / FILE)
    except FileNotFoundError:
        return
    with open(fd, "rb") as file:
        yield from _lines(file)


def _lines(file: Iterable[bytes]) -> Iterator[AuditLine]:
    decoder = msgspec.json.Decoder(AuditLine)
    for line in file:
        try:
            yield decoder.decode(line)
        except msgspec.MsgspecError:
            continue  # torn by a crash or a full disk; the others still tell
