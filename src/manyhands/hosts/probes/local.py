"""The machine we run on: processor, memory, pressure, and the memory of each attempt's processes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from manyhands.core.values.widths import Reading
from manyhands.hosts.probes.guarded_probe import GuardedProbe
from manyhands.readers.cgroup import cores_allowed, cores_bound, own_groups
from manyhands.readers.machine_memory import memory_now
from manyhands.readers.no_answer import NoAnswer

#: Pressure stall information, which kernels before 4.20 and other systems do not have.
MEMORY_PRESSURE = Path("/proc/pressure/memory")

#: Attempt → pid of its process group's leader, as of now.
AttemptsNow = Callable[[], Mapping[int, int]]


class LocalProbe(GuardedProbe):
    def __init__(self, attempts: AttemptsNow = dict, pressure_file: Path = MEMORY_PRESSURE) -> None:
        super().__init__()
        self._attempts = attempts
        self._pressure_file = pressure_file
        self._cpu = CpuUse()
        self._busy = BusyCores()

    async def ask(self, at: float) -> Reading:
        groups = own_groups()
        total, used = memory_now(groups)
        return Reading(
            at=at,
            source="local",
            memory_total_bytes=total,
            memory_used_bytes=used,
            attempt_bytes=memory_of_groups(self._attempts()),
            utilisation=self._cpu.since_last(),
            cores=cores_now(groups),
            busy_cores=self._busy.since_last(at, self._attempts().values()),
            pressure=pressure_now(self._pressure_file),
        )


class CpuUse:
    """The busy share of all cores between two readings.

    psutil's own `cpu_percent` keeps the last reading per thread and process, shared with all other callers.
    """

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None  # (busy, all) seconds since boot
        self._share: float | None = None

    def since_last(self) -> float | None:
        import psutil

        times = psutil.cpu_times()
        # The time of guests is also included in user and nice.
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        busy = total - times.idle - getattr(times, "iowait", 0.0)
        if self._last is not None:
            passed = total - self._last[1]
            if passed <= 0:
                return self._share  # the kernel's clock has not moved since the last reading
            self._share = min(1.0, max(0.0, (busy - self._last[0]) / passed))
        self._last = (busy, total)
        return self._share


class BusyCores:
    """How many cores the attempts' processes kept busy between two looks.

    What a process used moves to its parent once it has ended and was waited for, so the sum over those alive keeps it.
    """

    def __init__(self) -> None:
        self._last: tuple[float, float, frozenset[int]] | None = None  # (at, seconds used, groups)

    def since_last(self, at: float, leaders: Iterable[int]) -> float | None:
        groups = frozenset(leaders)
        used_s = sum(_used_s(groups))
        last, self._last = self._last, (at, used_s, groups)
        if last is None or at <= last[0]:
            return None
        # An attempt that ended takes its seconds with it: such a moment says nothing.
        return (used_s - last[1]) / (at - last[0]) if last[2] <= groups and used_s >= last[1] else None


def _used_s(groups: frozenset[int]) -> Iterator[float]:
    import psutil

    for pid in psutil.pids() if groups else ():
        try:
            if os.getpgid(pid) in groups:
                times = psutil.Process(pid).cpu_times()
                yield times.user + times.system + times.children_user + times.children_system
        except (psutil.Error, OSError):
            continue  # it ended while we looked


def cores_now(groups: list[Path]) -> int:
    allowed = cores_allowed()
    return min(allowed, cores_bound(groups) or allowed)


def pressure_now(file: Path) -> float | None:
    try:
        first = file.read_text().splitlines()[0]
    except OSError:
        return None
    except (IndexError, UnicodeDecodeError):
        first = ""
    fields = dict(field.split("=", 1) for field in first.split() if "=" in field)
    try:
        return float(fields["avg10"]) / 100
    except (KeyError, ValueError):
        raise NoAnswer(f"{file} cannot be read as pressure: {first[:60]!r}") from None


def memory_of_groups(attempts: Mapping[int, int]) -> dict[int, int]:
    """Resident bytes of each attempt's process group. Attempts without a live process are left out."""
    import psutil

    attempt_of = {pid: attempt for attempt, pid in attempts.items()}
    held: dict[int, int] = {}
    for pid in psutil.pids() if attempt_of else ():
        try:
            attempt = attempt_of.get(os.getpgid(pid))
            resident = int(psutil.Process(pid).memory_info().rss) if attempt is not None else 0
            if attempt is not None and resident:  # a process that has ended but is not reaped holds no memory
                held[attempt] = held.get(attempt, 0) + resident
        except (psutil.Error, OSError):
            continue  # it ended while we looked
    return held
