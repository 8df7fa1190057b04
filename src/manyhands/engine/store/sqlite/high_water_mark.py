"""How far the journal reaches, kept in a file of its own: an end that is missing shows when the two are compared.

A mark is written after each commit and before the commit is acknowledged. So a mark is never ahead of what the
journal has had, and it covers everything that was acknowledged. What a power cut may take is marked separately: at the
durability "crash" a commit is safe from it only after a checkpoint.
"""

import fcntl
import os
import struct
import zlib
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from manyhands.engine.store.contract.stored_rows import SALVAGE
from manyhands.errors import StoreBroken
from manyhands.readers.plain_file import open_plain

#: After the name of the journal's file, as SQLite names its own: copying `journal.db*` copies it too.
SUFFIX = "-mark"
_MAGIC = b"mh-mark1"
_FORM = struct.Struct("<8sQQIQI36s")
#: Each copy has a sector of its own, so that a write that is torn leaves the other copy.
_SECTOR_BYTES = 512
_COPIES = 2


class Kept(IntEnum):
    """What a mark is about. Events have one writer, the dispatcher. Requests have many."""

    EVENTS = 0
    REQUESTS = 1


class HighWaterMark(NamedTuple):
    number: int = 0  # of the last one that was committed
    crc: int = 0  # of its row, which depends on all rows before it; 0 for a request
    synced: int = 0  # of the last one that a power cut cannot take
    synced_crc: int = 0
    boot: str = ""  # when it was written: the id of the machine's boot

    def certain(self, boot: str) -> tuple[int, int]:
        """The number and checksum that must be there. After another boot, a power cut may have taken the rest.

        Where a boot has no name, it may have been another one.
        """
        return (self.number, self.crc) if boot and boot == self.boot else (self.synced, self.synced_crc)


def this_boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return ""


class MarkFile:
    """The marks of one journal. Any number of processes may have it open."""

    def __init__(self, path: Path, *, writes: bool = False) -> None:
        """Raises FileNotFoundError if there is none."""
        self.path = path
        self._descriptor = _opened(path, os.O_RDWR if writes else os.O_RDONLY)
        self._turns = [0, 0]
        self._latest = [HighWaterMark(), HighWaterMark()]
        self._guard = Lock()
        self._boot = this_boot()

    @classmethod
    def make(cls, path: Path, events: HighWaterMark) -> "MarkFile":
        """A new one, durable when this returns. It appears whole or not at all."""
        half = path.with_name(f"{path.name}.new")
        descriptor = _opened(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            for kept, mark in ((Kept.EVENTS, events), (Kept.REQUESTS, HighWaterMark())):
                for copy in range(_COPIES):
                    os.pwrite(descriptor, _packed(copy, mark), _place(kept, copy))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(half, path)
        sync_names(path.parent)
        return cls(path, writes=True)

    def read(self, kept: Kept) -> HighWaterMark:
        """The newest of the copies that are whole."""
        found = [_unpacked(os.pread(self._descriptor, _SECTOR_BYTES, _place(kept, copy))) for copy in range(_COPIES)]
        whole = [each for each in found if each is not None]
        if not whole:
            raise StoreBroken(
                f"the mark `{self.path}` is damaged, so that nobody can tell whether the journal beside it is complete",
                SALVAGE,
            )
        self._turns[kept], self._latest[kept] = max(whole, key=lambda one: one[0])
        return self._latest[kept]

    def note_event(self, number: int, crc: int, *, synced: bool) -> None:
        with self._guard:
            known = self._latest[Kept.EVENTS]
            safe = (number, crc) if synced else (known.synced, known.synced_crc)
            self._write(Kept.EVENTS, HighWaterMark(number, crc, *safe, self._boot))

    def note_synced(self, number: int, crc: int) -> None:
        """A checkpoint has taken everything up to this event to the disk."""
        with self._guard:
            known = self._latest[Kept.EVENTS]
            if known.synced != number:
                self._write(Kept.EVENTS, known._replace(synced=number, synced_crc=crc))
        self.sync()

    def note_request(self, number: int, *, synced: bool) -> None:
        """Others may note theirs at the same time: the highest number counts."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            known = self.read(Kept.REQUESTS)
            if number > known.number:
                self._write(Kept.REQUESTS, HighWaterMark(number, 0, number if synced else known.synced, 0, self._boot))
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    @property
    def latest_event(self) -> tuple[int, int]:
        with self._guard:
            return self._latest[Kept.EVENTS][:2]

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1  # the number may be another file's by the next call

    def _write(self, kept: Kept, mark: HighWaterMark) -> None:
        turn = self._turns[kept] + 1
        try:
            os.pwrite(self._descriptor, _packed(turn, mark), _place(kept, turn % _COPIES))
        except OSError as error:
            raise StoreBroken(
                f"cannot write the journal's mark `{self.path}`: {error.strerror}",
                "free some space or check the disk, then run the same command again; everything acknowledged is kept",
            ) from error
        self._turns[kept], self._latest[kept] = turn, mark


def _opened(path: Path, flags: int) -> int:
    try:
        return open_plain(path, flags)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreBroken(f"cannot open the journal's mark `{path}`: {error.strerror}", SALVAGE) from error


def _place(kept: Kept, copy: int) -> int:
    return (kept * _COPIES + copy) * _SECTOR_BYTES


def _packed(turn: int, mark: HighWaterMark) -> bytes:
    body = _FORM.pack(_MAGIC, turn, *mark[:4], mark.boot.encode("ascii"))
    return body + zlib.crc32(body).to_bytes(4, "little")


def _unpacked(sector: bytes) -> tuple[int, HighWaterMark] | None:
    body, crc = sector[: _FORM.size], sector[_FORM.size : _FORM.size + 4]
    if len(crc) != 4 or zlib.crc32(body).to_bytes(4, "little") != crc:
        return None
    _, turn, number, row_crc, synced, synced_crc, boot = _FORM.unpack(body)
    return turn, HighWaterMark(number, row_crc, synced, synced_crc, boot.rstrip(b"\0").decode("ascii"))


def sync_names(directory: Path) -> None:
    """The name of a new file or directory must survive a power cut, as its contents do."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
