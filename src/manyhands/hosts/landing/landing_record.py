"""What is known about an attempt's worktree and landing, in a file beside its output that survives a crash."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.readers.plain_file import open_plain, read_plain

FILE = "landing.json"
BYTES_MAX = 64 << 20  # a change of a million files has a record of this size


class LandingRecord(Struct, omit_defaults=True):
    target: str
    base: str  # where the target was when the attempt started
    branch: str
    commit: str = ""  # its work, as a child of `base`
    landed: str = ""  # the commit that this became on the target
    proposed: str = ""  # the address of the pull request that it became instead
    touched: list[str] = []
    undeclared: list[str] = []  # changed files that none of its claims covers
    conflicts: list[str] = []
    place: str = ""  # of its worktree, below the directory of all worktrees
    waits: bool = False  # its work waits for approval
    kept: str = ""  # why the branch is kept; "": it is deleted, or a crash came first

    def save(self, directory: str) -> None:
        """Write the record. It is on disk on return, because it must be known before anything lands."""
        os.makedirs(directory, exist_ok=True)
        beside = os.path.join(directory, f".{FILE}.new")
        with suppress(FileNotFoundError):
            os.unlink(beside)  # what a task has put there, or a crash has left
        with open(open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(_decodable(self)), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, os.path.join(directory, FILE))


def _decodable(record: LandingRecord) -> LandingRecord:
    """The record with file names that JSON can hold: a file name need not be valid text."""

    def plain(paths: list[str]) -> list[str]:
        return [os.fsencode(path).decode(errors="replace") for path in paths]

    return msgspec.structs.replace(
        record, touched=plain(record.touched), undeclared=plain(record.undeclared), conflicts=plain(record.conflicts)
    )


def read_record(directory: Path) -> LandingRecord:
    """The record of the attempt with this directory. Raises OSError, ValueError or RecursionError if it has none."""
    return msgspec.json.decode(read_plain(directory / FILE, BYTES_MAX), type=LandingRecord)


def earlier_records(directory: str, number: int) -> Iterator[tuple[int, LandingRecord]]:
    """The records of earlier attempts of the same task, oldest first: (number, record)."""
    stem = directory.removesuffix(str(number))
    for earlier in range(1, number):
        try:
            yield earlier, read_record(Path(f"{stem}{earlier}"))
        except (OSError, ValueError, RecursionError):
            continue  # that attempt ended before it had a record
