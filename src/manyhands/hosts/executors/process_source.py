"""What a system must tell about processes, whichever system it is."""

import os
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

#: Every process of an attempt inherits this variable. It identifies processes that have left the group.
MARKER = "MANYHANDS_ATTEMPT"
#: A dispatcher that itself runs in an attempt passes both markers on, separated by this.
MARKER_SEPARATOR = "/"

#: Set in tests, so that Linux is read as a system without /proc and pidfds would be.
WITHOUT_PROC = "MANYHANDS_WITHOUT_PROC"
HAS_PROC = hasattr(os, "pidfd_open") and Path("/proc/self/stat").exists() and WITHOUT_PROC not in os.environ

#: Seconds since boot, sleep included: macOS has no clock of that name, and its monotonic one counts sleep.
BOOT_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

#: Of `ru_maxrss`.
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    born_at: float  # on the clock of its source: exact, and the same for every reader
    markers: tuple[str, ...]
    tag: int = 0  # the number of the attempt that it inherited; 0 if it has none, or may not be asked


def markers_in(value: str) -> tuple[str, ...]:
    return tuple(filter(None, value.split(MARKER_SEPARATOR)))


class ProcessSource(ABC):
    """A zombie counts as dead: it runs nothing and holds nothing."""

    @abstractmethod
    def pids(self) -> list[int]: ...

    @abstractmethod
    def process(self, pid: int) -> Process | None:
        """None if it is dead, or may not be read."""

    @abstractmethod
    def born_at(self, pid: int) -> float | None:
        """When the process started, or None if no process, alive or dead, has that id."""

    @abstractmethod
    def birth_clock(self, since_boot_s: float) -> float:
        """A time since boot, on the clock of `born_at`."""

    @abstractmethod
    def cpu_s(self, pid: int) -> float:
        """The processor time of the process and of its children that have ended; 0 if it is gone."""

    @abstractmethod
    def resident_bytes(self, pid: int) -> int:
        """What it has in memory, shared pages included; 0 if it is gone."""

    @abstractmethod
    def directory(self, pid: int) -> Path | None:
        """Its current directory, or None if it is gone or may not be read."""

    @abstractmethod
    def boot(self) -> str:
        """Identifies this boot and container, if start times are valid only within both."""

    @abstractmethod
    def newest_pid(self) -> int:
        """The id given out last, or -1 if it is unknown. Ids are given out in order and wrap around."""

    @abstractmethod
    def out_of_memory_kills(self) -> int:
        """How many processes the kernel has killed for lack of memory since boot, as far as it says."""

    @abstractmethod
    def set_tag(self, pid: int, tag: int) -> None:
        """Give it a number that all it starts inherit, where the system has a place for one."""
