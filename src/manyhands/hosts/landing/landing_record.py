"""What is known of an attempt's worktree and landing, in a file beside its output; a crash does not take it away."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

FILE = "landing.json"


class LandingRecord(Struct, omit_defaults=True):
    target: str
    base: str  # where the target was when the attempt started
    branch: str
    commit: str = ""  # what it did, on `base`
    landed: str = ""  # what that became on the target
    touched: list[str] = []
    undeclared: list[str] = []  # touched, and held by none of its claims
    conflicts: list[str] = []
    kept: str = ""  # why the branch stays; "": it goes, or nothing could be said any more

    def save(self, directory: str) -> None:
        """On disk when it returns: what it tells must be known before anything lands."""
        os.makedirs(directory, exist_ok=True)
        beside = os.path.join(directory, f".{FILE}.new")
        with open(beside, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(_decodable(self)), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, os.path.join(directory, FILE))


def _decodable(record: LandingRecord) -> LandingRecord:
    """File names may be no text; JSON is."""

    def plain(paths: list[str]) -> list[str]:
        return [os.fsencode(path).decode(errors="replace") for path in paths]

    return msgspec.structs.replace(
        record, touched=plain(record.touched), undeclared=plain(record.undeclared), conflicts=plain(record.conflicts)
    )


def earlier_records(directory: str, number: int) -> Iterator[tuple[int, LandingRecord]]:
    """Those of the attempts of the same task before this one, oldest first: (number, record)."""
    stem = directory.removesuffix(str(number))
    for earlier in range(1, number):
        try:
            yield earlier, msgspec.json.decode(Path(f"{stem}{earlier}", FILE).read_bytes(), type=LandingRecord)
        except (OSError, msgspec.MsgspecError):
            continue  # it never got that far
