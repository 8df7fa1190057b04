"""Nodes and dispatchers that die under attempts on Ray, with the real command line on a real cluster.

Method: every task appends marks to the file it claims. Were two attempts that claim a file ever alive at once, their
marks would be interleaved in it. Some tasks run until the test lets them end, so that one that is not dead is noticed.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from hosts.ray_host.ray_stage import RayCluster
from manyhands.hosts.executors import process_table

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

PATIENCE_S = 240
_MARK = 'echo "$MANYHANDS_TASK $MANYHANDS_ATTEMPT_NUMBER $$" >> "$0"'
SHORT = f"for i in 0 1 2 3 4; do {_MARK}; sleep 0.02; done"
#: Its first attempt runs until there is a file `go`.
LONG = f'{_MARK}; [ "$MANYHANDS_ATTEMPT_NUMBER" -gt 1 ] || until [ -e go ]; do {_MARK}; sleep 0.05; done; echo over'


def write_plan(directory: Path, address: str, longs: int, shorts: int) -> None:
    (directory / "manyhands.toml").write_text(f"[hosts.far]\ntype = 'ray'\naddress = '{address}'\nwidth = 6\n")
    tasks = [("long", n, LONG, 0) for n in range(longs)] + [("short", n, SHORT, 3) for n in range(shorts)]
    rows = []
    for name, n, script, priority in tasks:
        file = f"marks-{n % longs}"
        run = ["sh", "-c", script, file]
        row = {"id": f"{name}-{n}", "priority": priority, "run": run, "claims": {"write": [file]}}
        rows.append(json.dumps(row))
    (directory / "plan.jsonl").write_text("\n".join(rows))


def start(directory: Path) -> "subprocess.Popen[bytes]":
    argv = [sys.executable, "-m", "manyhands", "run", "plan.jsonl"]
    with directory.joinpath("stderr.log").open("ab") as stderr:
        return subprocess.Popen(argv, cwd=directory, stdout=subprocess.DEVNULL, stderr=stderr)


def marks(directory: Path) -> list[list[tuple[str, ...]]]:
    """For each file: (task, attempt, process) of each mark in turn."""
    return [
        [tuple(line.split()) for line in file.read_text().splitlines()] for file in sorted(directory.glob("marks-*"))
    ]


def wait_until(holds: Callable[[], bool], directory: Path) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up_at, directory.joinpath("stderr.log").read_text()[-3000:]
        time.sleep(0.05)


def check_no_claims_overlapped(directory: Path) -> None:
    for in_file in marks(directory):
        turns = [who for who, _ in groupby(in_file)]
        assert len(turns) == len(set(turns)), f"two attempts took turns: {turns}"


def attempts_of(directory: Path, task: str) -> set[str]:
    return {number for in_file in marks(directory) for name, number, _ in in_file if name == task}


def test_a_node_that_dies_costs_no_task_and_its_claims_wait_until_its_attempts_are_dead(
    cluster: RayCluster, tmp_path: Path
) -> None:
    write_plan(tmp_path, cluster.address, longs=3, shorts=9)
    run = start(tmp_path)
    wait_until(lambda: len(marks(tmp_path)) == 3, tmp_path)  # spread: one on each node
    cluster.kill_node("reasoning")  # no other test asks for this one
    try:
        wait_until(lambda: any("2" in attempts_of(tmp_path, f"long-{n}") for n in range(3)), tmp_path)
        time.sleep(0.5)  # what is not dead would make more marks
        (tmp_path / "go").touch()
        assert run.wait(timeout=PATIENCE_S) == 0, (tmp_path / "stderr.log").read_text()[-3000:]
    finally:
        run.kill()
    assert sorted(len(attempts_of(tmp_path, f"long-{n}")) for n in range(3)) == [1, 1, 2]
    assert all(attempts_of(tmp_path, f"short-{n}") == {"1"} for n in range(9))
    check_no_claims_overlapped(tmp_path)


def test_a_dispatcher_that_was_killed_adopts_what_still_runs(cluster: RayCluster, tmp_path: Path) -> None:
    write_plan(tmp_path, cluster.address, longs=2, shorts=4)
    first = start(tmp_path)
    wait_until(lambda: len(marks(tmp_path)) == 2, tmp_path)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = sum(map(len, marks(tmp_path)))
    wait_until(lambda: sum(map(len, marks(tmp_path))) > before + 10, tmp_path)  # they continue without it
    second = start(tmp_path)
    time.sleep(1.0)
    (tmp_path / "go").touch()
    assert second.wait(timeout=PATIENCE_S) == 0, (tmp_path / "stderr.log").read_text()[-3000:]
    assert [attempts_of(tmp_path, f"long-{n}") for n in range(2)] == [{"1"}, {"1"}]
    assert all(attempts_of(tmp_path, f"short-{n}") == {"1"} for n in range(4))
    check_no_claims_overlapped(tmp_path)
    outputs = sorted((tmp_path / ".manyhands" / "attempts").rglob("long-*.1/output.log"))
    assert [output.read_text() for output in outputs] == ["over\n", "over\n"]
    left = [p for p in process_table.processes() if str(tmp_path) in _directory_of(p.pid)]
    assert left == []


def _directory_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""
