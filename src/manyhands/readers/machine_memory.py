"""The memory of this machine, within the limits of the container we run in."""

from pathlib import Path

from manyhands.readers.cgroup import tightest_memory_bound


def memory_now(groups: list[Path]) -> tuple[int, int]:
    """(total, used) in bytes: of the machine, or of the container if that has less room."""
    import psutil

    machine = psutil.virtual_memory()
    total, used = int(machine.total), int(machine.total - machine.available)
    bound = tightest_memory_bound(groups)
    if bound is not None and bound.total_bytes - bound.used_bytes < total - used:
        return bound.total_bytes, bound.used_bytes
    return total, used
