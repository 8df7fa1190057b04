"""Limits that a container or service sets (cgroup v2). Beyond them the kernel kills, even if the machine has room."""

import math
import os
from pathlib import Path

from msgspec import Struct

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


class MemoryBound(Struct, frozen=True):
    total_bytes: int
    used_bytes: int


def own_groups(root: Path = CGROUPS, own: Path = OWN_CGROUP) -> list[Path]:
    """Our group and all groups above it: the limits of each apply to us."""
    try:
        name = next(line[3:] for line in own.read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return []
    group = root / name.strip().lstrip("/")
    return [group, *(parent for parent in group.parents if parent.is_relative_to(root))]


def tightest_memory_bound(groups: list[Path]) -> MemoryBound | None:
    """The limit with the least room left; None if there is no limit."""
    bounds = [bound for group in groups if (bound := memory_bound_of(group)) is not None]
    return min(bounds, key=lambda bound: bound.total_bytes - bound.used_bytes, default=None)


def memory_bound_of(group: Path) -> MemoryBound | None:
    try:
        total = int((group / "memory.max").read_text())
        current = int((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such group, or "max": no limit
        return None
    # The kernel drops file pages that were not used lately when memory runs short: they count as room.
    used = max(0, current - int(stat.get("inactive_file", 0)))
    return MemoryBound(total, min(used, total))


def cores_bound(groups: list[Path]) -> int | None:
    """The whole cores that the tightest quota allows, at least one; None without a quota."""
    quotas = [quota for group in groups if (quota := quota_of(group)) is not None]
    return max(1, math.floor(min(quotas))) if quotas else None


def quota_of(group: Path) -> float | None:
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def cores_allowed() -> int:
    """The cores that this process may run on, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
