"""The machine as the local probe sees it, with real processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from manyhands.hosts.probes.local import CpuUse, LocalProbe, memory_of_groups
from manyhands.readers.cgroup import cores_bound, own_groups, tightest_memory_bound

MIB = 1 << 20
KERNEL_TELLS_PRESSURE = Path("/proc/pressure/memory").exists()
#: A parent and its child in one process group, each holding 40 MiB.
TWO_HOLDERS = (
    "import os, sys\n"
    "child = os.fork()\n"
    f"held = bytearray(os.urandom(4096)) * ({40 * MIB} // 4096)\n"
    "os.write(1, b'holding\\n')\n"
    "sys.stdin.read()\n"
)


def start_holders() -> subprocess.Popen[str]:
    holders = subprocess.Popen(
        [sys.executable, "-c", TWO_HOLDERS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert holders.stdout is not None
    assert [holders.stdout.readline() for _ in range(2)] == ["holding\n"] * 2
    return holders


async def test_an_attempts_memory_is_that_of_its_whole_process_group() -> None:
    holders = start_holders()
    try:
        probe = LocalProbe(lambda: {17: holders.pid, 18: 2**22 + 1})
        reading = await probe.read(1.0)
        assert reading is not None, probe.trouble
        assert reading.attempt_bytes is not None
        assert list(reading.attempt_bytes) == [17]  # nothing of 18 is alive
        assert 80 * MIB <= reading.attempt_bytes[17] <= 160 * MIB
    finally:
        os.killpg(holders.pid, signal.SIGKILL)
        holders.communicate()
    reading = await probe.read(2.0)
    assert reading is not None
    assert reading.attempt_bytes == {}


async def test_the_machines_memory_cores_and_pressure_are_shown() -> None:
    probe = LocalProbe()
    reading = await probe.read(1.0)
    assert reading is not None, probe.trouble
    assert reading.memory_total_bytes is not None
    assert reading.memory_total_bytes <= psutil.virtual_memory().total
    assert reading.cores is not None
    assert 1 <= reading.cores <= len(os.sched_getaffinity(0))
    assert (reading.pressure is not None) == KERNEL_TELLS_PRESSURE
    assert reading.utilisation is None  # a share needs two looks


async def test_a_kernel_without_pressure_leaves_it_unknown(tmp_path: Path) -> None:
    probe = LocalProbe(pressure_file=tmp_path / "none")
    reading = await probe.read(1.0)
    assert reading is not None, probe.trouble
    assert reading.pressure is None


def test_a_busy_core_shows_in_the_utilisation() -> None:
    use = CpuUse()
    use.since_last()
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    share = use.since_last()
    assert share is not None
    # One core was ours for most of it, whatever the others did.
    assert share >= 0.5 / (os.cpu_count() or 1)


def test_many_processes_are_looked_through_quickly() -> None:
    memory_of_groups({1: os.getpgrp()})
    began = time.process_time()
    memory_of_groups({1: os.getpgrp()})
    assert time.process_time() - began < 0.1


def write_group(group: Path, memory_max: str, current: int, inactive: int, cpu_max: str) -> None:
    group.mkdir(parents=True, exist_ok=True)
    (group / "memory.max").write_text(memory_max + "\n")
    (group / "memory.current").write_text(f"{current}\n")
    (group / "memory.stat").write_text(f"anon 5\nfile 9\ninactive_file {inactive}\n")
    (group / "cpu.max").write_text(cpu_max + "\n")


def test_the_tightest_bound_of_our_group_and_those_above_holds(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/service/agent\n")
    root = tmp_path / "groups"
    write_group(root / "service/agent", "max", current=400, inactive=0, cpu_max="max 100000")
    write_group(root / "service", "1000", current=700, inactive=200, cpu_max="250000 100000")
    groups = own_groups(root, own)
    bound = tightest_memory_bound(groups)
    assert bound is not None
    assert (bound.total_bytes, bound.used_bytes) == (1000, 500)
    assert cores_bound(groups) == 2

    write_group(root / "service/agent", "600", current=400, inactive=0, cpu_max="50000 100000")
    bound = tightest_memory_bound(groups)
    assert bound is not None
    assert (bound.total_bytes, bound.used_bytes) == (600, 400)
    assert cores_bound(groups) == 1


def test_no_group_or_no_bound_is_no_bound(tmp_path: Path) -> None:
    assert own_groups(tmp_path, tmp_path / "none") == []
    assert tightest_memory_bound([tmp_path]) is None
    assert cores_bound([tmp_path]) is None
