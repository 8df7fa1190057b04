"""Processes as Linux tells them: /proc, and a bound of resources as the tag that every process inherits."""

import contextlib
import functools
import os
import resource
from pathlib import Path

from manyhands.hosts.executors.process_source import MARKER, Process, ProcessSource, markers_in

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ENVIRON_KEY = f"\0{MARKER}=".encode()
_READ_BYTES = 32_768
_FIRST_PROCESS_IDS = "pid:[4026531836]"  # of the machine itself; a container has its own space of ids


class LinuxProcesses(ProcessSource):
    """Start times are in seconds since boot."""

    def pids(self) -> list[int]:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]

    def process(self, pid: int) -> Process | None:
        fields = _stat(pid)
        if fields is None or (fields[0] in (b"Z", b"X") and int(fields[17]) <= 1):
            return None  # a dead leader whose other threads still run is alive
        return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), _born_at(fields), _markers(pid), _tag(pid))

    def born_at(self, pid: int) -> float | None:
        fields = _stat(pid)
        return None if fields is None else _born_at(fields)

    def birth_clock(self, since_boot_s: float) -> float:
        return since_boot_s

    def cpu_s(self, pid: int) -> float:
        fields = _stat(pid)
        return 0.0 if fields is None else sum(int(ticks) for ticks in fields[11:15]) / _TICKS_PER_S

    def resident_bytes(self, pid: int) -> int:
        try:
            return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE_BYTES
        except (OSError, IndexError, ValueError):  # it has ended
            return 0

    def directory(self, pid: int) -> Path | None:
        try:
            return Path(os.readlink(f"/proc/{pid}/cwd"))
        except OSError:
            return None

    def boot(self) -> str:
        return _boot()

    def newest_pid(self) -> int:
        try:
            return int(_read("/proc/loadavg").rsplit(maxsplit=1)[-1])
        except (OSError, IndexError, ValueError):
            return -1

    def out_of_memory_kills(self) -> int:
        """Control groups included."""
        try:
            _, _, rest = _read("/proc/vmstat").partition(b"\noom_kill ")
        except OSError:
            return 0
        return int(rest.split(maxsplit=1)[0]) if rest else 0

    def set_tag(self, pid: int, tag: int) -> None:
        """It is the bound of the resident memory (RLIMIT_RSS), which Linux has not looked at since version 2.4.

        Every process inherits it, also with an empty environment, in another session and with another parent. Only
        root can set one above one that is there; then a process is known by its marker and parents alone.
        """
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_RSS, (tag, tag))


@functools.cache
def _boot() -> str:
    try:
        this_boot = _read("/proc/sys/kernel/random/boot_id").decode().strip()[:8]
        ids = os.readlink("/proc/self/ns/pid")
    except OSError:  # a sandbox that hides it
        return ""
    return this_boot if ids == _FIRST_PROCESS_IDS else f"{this_boot} {ids}"


def _stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the state on. The name before them may contain anything, even `)`."""
    try:
        content = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    return content.rpartition(b")")[2].split() or None


def _born_at(fields: list[bytes]) -> float:
    return int(fields[19]) / _TICKS_PER_S


def _tag(pid: int) -> int:
    try:
        _, tag = resource.prlimit(pid, resource.RLIMIT_RSS)
    except (OSError, ValueError):  # it belongs to another user, or has ended
        return 0
    return max(tag, 0)  # -1 means that there is no bound


def _markers(pid: int) -> tuple[str, ...]:
    try:
        environ = _read(f"/proc/{pid}/environ")
    except OSError:  # it belongs to another user, or has ended
        return ()
    _, found, rest = (b"\0" + environ).partition(_ENVIRON_KEY)
    return markers_in(rest.partition(b"\0")[0].decode(errors="replace")) if found else ()


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _READ_BYTES)
        while more := os.read(descriptor, _READ_BYTES):  # /proc may return less than asked for, with more to come
            content += more
        return content
    finally:
        os.close(descriptor)
