"""The most memory this process held during a batch, from the kernel's own high-water mark, which costs nothing."""

import contextlib
from pathlib import Path
from typing import NamedTuple

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


class ResidentMemory(NamedTuple):
    now_bytes: int
    most_bytes: int
    of_files_bytes: int  # pages of libraries and weights; they are loaded when first touched and stay


class PeakMeter:
    """Measures one batch at a time, because the mark belongs to the whole process."""

    def __init__(self) -> None:
        self._before: ResidentMemory | None = None

    def begin(self) -> None:
        self._before = None
        with contextlib.suppress(OSError):
            CLEAR_REFS.write_text("5")  # proc(5): resets the high-water mark of resident memory
            self._before = resident()

    def peak_bytes(self) -> int | None:
        """The peak above what was held at `begin`, or None if the kernel does not report it."""
        before, after = self._before, resident()
        if before is None or after is None:
            return None
        read_meanwhile = max(0, after.of_files_bytes - before.of_files_bytes)
        return max(0, after.most_bytes - before.now_bytes - read_meanwhile)


def resident() -> ResidentMemory | None:
    try:
        lines = [line.split() for line in STATUS.read_text().splitlines()]
    except OSError:
        return None
    kib_of = {words[0]: int(words[1]) for words in lines if words[0] in ("VmRSS:", "VmHWM:", "RssFile:")}
    if len(kib_of) < 3:
        return None
    return ResidentMemory(*(1024 * kib_of[name] for name in ("VmRSS:", "VmHWM:", "RssFile:")))
