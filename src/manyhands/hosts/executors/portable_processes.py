"""Processes as psutil tells them, for systems without /proc, such as macOS.

There is no tag here: a process that leaves its session, its parents and its environment behind is not found.
"""

import os
import time
from pathlib import Path

import psutil

from manyhands.hosts.executors.process_source import BOOT_CLOCK, MARKER, Process, ProcessSource, markers_in


class PortableProcesses(ProcessSource):
    """Start times are in seconds since 1970, so they are valid over any number of boots."""

    def pids(self) -> list[int]:
        return psutil.pids()

    def process(self, pid: int) -> Process | None:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                if process.status() == psutil.STATUS_ZOMBIE:
                    return None
                born_at, parent = process.create_time(), process.ppid()
            return Process(pid, parent, os.getpgid(pid), os.getsid(pid), born_at, _markers(process))
        except (psutil.Error, OSError):
            return None

    def born_at(self, pid: int) -> float | None:
        try:
            return psutil.Process(pid).create_time()
        except psutil.Error:
            return None

    def birth_clock(self, since_boot_s: float) -> float:
        return time.time() - (time.clock_gettime(BOOT_CLOCK) - since_boot_s)

    def cpu_s(self, pid: int) -> float:
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system + times.children_user + times.children_system)

    def resident_bytes(self, pid: int) -> int:
        try:
            return int(psutil.Process(pid).memory_info().rss)
        except psutil.Error:
            return 0

    def directory(self, pid: int) -> Path | None:
        try:
            return Path(psutil.Process(pid).cwd())
        except psutil.Error:
            return None

    def boot(self) -> str:
        return ""

    def newest_pid(self) -> int:
        return -1

    def out_of_memory_kills(self) -> int:
        return 0

    def set_tag(self, pid: int, tag: int) -> None:
        pass


def _markers(process: psutil.Process) -> tuple[str, ...]:
    try:
        return markers_in(process.environ().get(MARKER, ""))
    except (psutil.Error, OSError):  # it belongs to another user or to the system, or has ended
        return ()
