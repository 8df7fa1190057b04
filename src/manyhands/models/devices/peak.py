"""The most memory this process held since a moment: the kernel's own high-water mark, which costs nothing to keep."""

import contextlib
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


class PeakMeter:
    """Begin it before a batch and ask it after; one at a time, for the mark belongs to the whole process."""

    def __init__(self) -> None:
        self._before: int | None = None

    def begin(self) -> None:
        self._before = None
        with contextlib.suppress(OSError):
            CLEAR_REFS.write_text("5")  # proc(5): resets the high-water mark of resident memory
            self._before = resident_bytes("VmRSS")

    def peak_bytes(self) -> int | None:
        """Above what was held at `begin`; None where the kernel does not tell."""
        if self._before is None:
            return None
        peak = resident_bytes("VmHWM")
        return None if peak is None else max(0, peak - self._before)


def resident_bytes(field: str) -> int | None:
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith(f"{field}:")), None)
    return None if found is None else int(found.split()[1]) * 1024
