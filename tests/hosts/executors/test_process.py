"""What becomes of processes when their dispatcher is killed, and what recovery may and may not kill."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hosts.executors.desk import PATIENCE_S
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import Task
from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.process import marker_of, reclaim, reclaim_all
from manyhands.hosts.executors.process_source import MARKER, Process
from manyhands.hosts.executors.process_table import born_at, processes

TESTS = Path(__file__).parents[2]


class Doomed:
    """A dispatcher in a process of its own, to be killed with -9."""

    def __init__(self, workspace: Path, name: str, task: Task, releases: bool) -> None:
        self.journal = f"doomed-{os.getpid()}-{workspace.name}"
        self.marker = marker_of(self.journal, 1)
        self.flags = workspace / "flags"
        self.flags.mkdir(exist_ok=True)
        script = Path(__file__).with_name("dispatcher_child.py")
        order = msgspec.json.encode(task).decode()
        self.popen = subprocess.Popen(
            [sys.executable, str(script), name, str(workspace), self.journal, str(int(releases)), order],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
            text=True,
        )
        assert self.popen.stdout is not None
        self.handle = msgspec.json.decode(self.popen.stdout.readline(), type=ProcessHandle)

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()

    def alive(self) -> list[int]:
        return [p.pid for p in processes() if self.marker in p.markers or p.session == self.handle.pid]


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Callable[..., Doomed]]:
    made: list[Doomed] = []

    def make(name: str, task: Task, releases: bool = True) -> Doomed:
        made.append(Doomed(tmp_path, name, task, releases))
        return made[-1]

    yield make
    for one in made:
        one.kill()
        asyncio.run(reclaim(one.handle, one.marker))


def wait_until(holds: Callable[[], Any]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up_at, "waited in vain"
        time.sleep(0.01)


def in_own_session(*argv: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, start_new_session=True, env={**os.environ, **(env or {})})


def run_and_hang(daemon: bool = True) -> Task:
    aside = "setsid sleep 1000 & sleep 1000 & " if daemon else ""
    return Task("t", run=("sh", "-c", f"{aside} touch flags/x; exec sleep 1000"))


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("shell", Task("t", run=("touch", "flags/ran"))),
        ("python", Task("t", call="hosts.executors.functions:raises_flag", args={"flags": "flags"})),
    ],
)
def test_a_dispatcher_killed_before_the_record_leaves_nothing_that_ran(
    doomed: Callable[..., Doomed], name: str, task: Task
) -> None:
    killed = doomed(name, task, releases=False)
    assert born_at(killed.handle.pid) == killed.handle.born_at
    killed.kill()
    wait_until(lambda: killed.alive() == [])
    assert list(killed.flags.iterdir()) == []
    released = doomed(name, task, releases=True)
    wait_until(lambda: list(released.flags.iterdir()))


def test_a_start_time_reads_the_same_in_every_process(doomed: Callable[..., Doomed]) -> None:
    running = doomed("shell", run_and_hang())
    script = f"from manyhands.hosts.executors.process_table import born_at; print(born_at({running.handle.pid}))"
    read = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert float(read) == running.handle.born_at == born_at(running.handle.pid)


async def test_recovery_ends_what_a_killed_dispatcher_left_running(doomed: Callable[..., Doomed]) -> None:
    killed = doomed("shell", run_and_hang())
    wait_until(lambda: list(killed.flags.iterdir()))
    killed.kill()
    assert len(killed.alive()) == 3
    await reclaim(killed.handle, killed.marker)
    assert killed.alive() == []
    await reclaim(killed.handle, killed.marker)


async def test_a_worker_dies_with_its_dispatcher_and_recovery_ends_its_children(doomed: Callable[..., Doomed]) -> None:
    task = Task("t", call="hosts.executors.functions:hangs_in_a_child", args={"flags": "flags"})
    killed = doomed("python", task)
    wait_until(lambda: len(killed.alive()) == 3 and list(killed.flags.iterdir()))
    killed.kill()
    wait_until(lambda: born_at(killed.handle.pid) is None or len(killed.alive()) == 2)
    await reclaim(killed.handle, killed.marker)
    assert killed.alive() == []


async def test_a_reused_process_id_is_never_killed() -> None:
    stranger = in_own_session("sh", "-c", "sleep 1000 & exec sleep 1000")
    try:
        born = born_at(stranger.pid)
        assert born is not None
        for handle in (
            ProcessHandle(stranger.pid, born - 0.01, process_table.boot()),
            ProcessHandle(stranger.pid, born + 0.01, process_table.boot()),
            ProcessHandle(stranger.pid, born, "another0"),
        ):
            await reclaim(handle, "no-such-journal.1")
            assert stranger.poll() is None
        await reclaim(ProcessHandle(stranger.pid, born, process_table.boot()), "no-such-journal.1")
        assert stranger.wait(PATIENCE_S) == -9
        assert [p for p in processes() if p.session == stranger.pid] == []
    finally:
        if stranger.poll() is None:
            os.killpg(stranger.pid, signal.SIGKILL)


@pytest.mark.parametrize("is_marked", [True, False])
async def test_a_group_without_its_leader_is_ended_if_it_is_certainly_the_attempts(is_marked: bool) -> None:
    marker = f"leaderless-{os.getpid()}.1"
    env = {MARKER: marker} if is_marked else {}
    # One that was started with an empty environment is known by the company it keeps.
    leader = in_own_session("sh", "-c", "sleep 1000 & env -i sleep 1000 & :", env=env)
    leader.wait()

    def members() -> list[int]:
        return [p.pid for p in processes() if p.session == leader.pid]

    try:
        wait_until(lambda: len(members()) == 2)
        await reclaim(ProcessHandle(leader.pid, 1.0, process_table.boot()), marker)
        assert len(members()) == (0 if is_marked else 2)
    finally:
        for pid in members():
            os.kill(pid, 9)


async def test_many_are_reclaimed_together_and_their_neighbour_is_left_alone() -> None:
    journal = f"many-{os.getpid()}"
    lost, popens = [], []
    for attempt in range(50):
        popens.append(in_own_session("sleep", "1000", env={MARKER: marker_of(journal, attempt)}))
        born = born_at(popens[-1].pid)
        assert born is not None
        lost.append((ProcessHandle(popens[-1].pid, born, process_table.boot()), marker_of(journal, attempt)))
    kept = popens.pop()
    lost.pop()
    await reclaim_all(lost)
    assert [popen.wait() for popen in popens] == [-9] * 49
    assert kept.poll() is None
    kept.kill()
    kept.wait()


async def test_the_reclaimer_never_ends_itself() -> None:
    """A run may be resumed from within one of its own attempts that outlived its dispatcher."""
    script = """if True:
        import asyncio, os
        from manyhands.core.values.host import ProcessHandle
        from manyhands.hosts.executors.process import reclaim
        asyncio.run(reclaim(ProcessHandle(1 << 22, 1.0), "inner.1"))
        print("alive")
    """
    env = {**os.environ, MARKER: "outer.1/inner.1"}
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", script, env=env, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert out == b"alive\n"


def test_a_process_whose_name_looks_like_fields_is_read_right(tmp_path: Path) -> None:
    tool = tmp_path / "a) Z 1 1 ("
    tool.symlink_to("/bin/sleep")
    popen = subprocess.Popen([str(tool), "1000"])
    try:
        (found,) = processes([popen.pid])
        assert (found.parent, found.group) == (os.getpid(), os.getpgid(0))
    finally:
        popen.kill()
        popen.wait()
    assert processes([popen.pid]) == []
    assert born_at(popen.pid) is None


async def test_a_process_id_that_is_reused_after_the_look_is_not_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the table and the signal, the process may end and its id be given to another."""
    stranger = in_own_session("sleep", "1000")
    try:
        born = born_at(stranger.pid)
        assert born is not None
        gone = Process(stranger.pid, 1, stranger.pid, stranger.pid, born - 5, ("journal.1",))
        looks = [[gone], []]

        async def stale() -> list[Process]:
            return looks.pop(0) if looks else []

        monkeypatch.setattr(process_table, "processes_aside", stale)
        await reclaim(ProcessHandle(stranger.pid, born - 5, process_table.boot()), "journal.1")
        assert stranger.poll() is None
    finally:
        os.killpg(stranger.pid, signal.SIGKILL)
        stranger.wait()
