"""The checksums of the rows, each started from the one before: rows of another history do not fit in."""

import sqlite3
import zlib
from pathlib import Path

from manyhands.engine.store.contract import codec, stored_rows


def linked(body: bytes, number: int, before: int) -> int:
    """The checksum of a row that follows the one with the checksum `before`."""
    return zlib.crc32(body, zlib.crc32(number.to_bytes(8, "little", signed=True), before))


class ChainCheck:
    """Tells of one row after another, in their order, whether it is sound and follows the one before."""

    def __init__(self, since: int, before: int) -> None:
        self._since = since
        self._before = before

    def __call__(self, body: object, crc: object, number: object) -> bool:
        if not (isinstance(body, bytes) and isinstance(number, int) and isinstance(crc, int)):
            return False
        expected = linked(body, number, self._before) if number > self._since else codec.checksum(body, number)
        self._before = crc & 0xFFFFFFFF
        return crc == expected


def since_of(connection: sqlite3.Connection, path: Path) -> int:
    """Rows after this event are linked. Those before it were written by an older manyhands."""
    found = connection.execute("SELECT since FROM chain").fetchone()
    if found is None or not isinstance(found[0], int):
        raise stored_rows.damaged(path, "its chain", "its beginning is missing")
    return found[0]


def row_before(connection: sqlite3.Connection, number: int) -> tuple[int, int]:
    """Number and checksum of the last row up to this event; zeros before the first."""
    found = connection.execute(
        "SELECT seq, crc FROM batch WHERE seq <= ? ORDER BY seq DESC LIMIT 1", (number,)
    ).fetchone()
    if found is None:
        return 0, 0
    seq, crc = found
    return seq, crc & 0xFFFFFFFF if isinstance(crc, int) else 0
