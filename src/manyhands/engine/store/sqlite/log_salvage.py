"""Makes SQLite read a write-ahead log past a damaged frame, on a copy.

SQLite ignores everything after the first frame whose checksum is wrong, because each checksum depends on the frames
before it. Most damaged pages were written again later in the same log. So the checksums of the frames are made to fit
what is there, and the checksums of the rows tell which of them are sound.
"""

import shutil
import struct
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

from manyhands.engine.store.sqlite.journal_checks import check_files

_HEAD_BYTES = 32
_FRAME_HEAD_BYTES = 24
#: The last bit of the magic number says in which byte order the checksums are computed.
_MAGIC = 0x377F0682
_PAGE_BYTES = 4096  # what the journal is made with


def copies(path: Path, into: Path) -> Iterator[Path]:
    """Directories with a copy of the journal at `path`: as it is, and with its log made readable to its end."""
    check_files(path)
    log = path.with_name(f"{path.name}-wal")
    for name, whole_log in (("as-is", False), ("whole-log", True)):
        if whole_log and not log.exists():
            continue
        directory = into / name
        directory.mkdir()
        # Without its main file a journal may still have all its pages in the log.
        if path.exists():
            shutil.copyfile(path, directory / path.name)
        else:
            (directory / path.name).touch()
        if log.exists():
            content = log.read_bytes()
            (directory / log.name).write_bytes(made_to_fit(content) if whole_log else content)
        yield directory


def made_to_fit(log: bytes) -> bytes:
    """The log with checksums that fit its frames, up to the last frame that belongs to it."""
    frame_bytes = _FRAME_HEAD_BYTES + _PAGE_BYTES
    frames = [log[at : at + frame_bytes] for at in range(_HEAD_BYTES, len(log) - frame_bytes + 1, frame_bytes)]
    if not frames:
        return log
    salts = log[16:24]
    if not any(frame[8:16] == salts for frame in frames):
        salts = frames[0][8:16]
    # What follows the last of its frames is left over from before the log was begun anew.
    end = max((number for number, frame in enumerate(frames, 1) if frame[8:16] == salts), default=0)
    head = struct.pack(">IIII", _MAGIC | (sys.byteorder == "big"), 3007000, _PAGE_BYTES, _counter(log)) + salts
    sums = _summed(head, (0, 0))
    fitted = [head, struct.pack(">II", *sums)]
    for frame in frames[:end]:
        sums = _summed(frame[:8] + frame[_FRAME_HEAD_BYTES:], sums)
        fitted += [frame[:8], salts, struct.pack(">II", *sums), frame[_FRAME_HEAD_BYTES:]]
    return b"".join(fitted)


def _counter(log: bytes) -> int:
    return int.from_bytes(log[12:16], "big")


def _summed(content: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum of these bytes, continued from `sums`."""
    words = array("I", content)
    first, second = sums
    for at in range(0, len(words), 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return first, second
