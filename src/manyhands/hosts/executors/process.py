"""The one place that makes, gates, watches and kills process groups.

A group's leader is not reaped until its whole family is dead. Until then the kernel gives its id to no other
process, so a signal to the group can never reach an unrelated process.
"""

import asyncio
import contextlib
import functools
import logging
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manyhands.core.values.host import ProcessHandle
from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.held_process import HeldProcess, hold
from manyhands.hosts.executors.process_source import MARKER, MARKER_SEPARATOR, MAXRSS_BYTES, Process
from manyhands.hosts.executors.process_table import Census

_log = logging.getLogger(__name__)

# Waits for a line, then becomes the command. The pipe closes when its writer dies, and then nothing is run.
_LAUNCHER = ("/bin/sh", "-c", 'read -r go || exit 125; input=$1; shift; exec "$@" <"$input"', "sh")
# A younger leader's family has ids shortly after its own, so looking there is enough. Older than this, the ids
# could have come round once.
_YOUNG_S = 1.0
_NEARBY_PIDS = 64
# A killed process that is still there waits for the kernel (a dead network disk). We can only report it.
_UNKILLABLE_S = 10.0

#: For those whose marker alone is known.
NO_PROCESS = ProcessHandle(0, 0.0)

MakeProcess = Callable[[], "subprocess.Popen[bytes]"]


class Exit(NamedTuple):
    code: int  # below 0: a signal of that number ended it
    memory_bytes: int  # peak of its largest process; 0: unknown
    out_of_memory: bool  # the kernel killed processes for lack of memory meanwhile


class ProcessGroup:
    """A process in its own session, with all it starts. `spawn_gated` makes it, waiting at a gate."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        marker: str,
        grace_s: float,
        census: Census,
        gate: int | None = None,
    ) -> None:
        """Take charge of a process that leads its own session. If that fails, the process is killed."""
        self._popen = popen
        self._marker = marker
        self._grace_s = grace_s
        self._census = census
        self._gate = gate
        self._kill_at: float | None = None  # set once it is being ended
        self._stopped = False
        self._since = (popen.pid, time.monotonic())
        process_table.set_tag(popen.pid, marker)
        self._memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            self._leader = hold(popen.pid)
            self._kills_before = process_table.out_of_memory_kills()
            self.handle = ProcessHandle(popen.pid, _born_at(popen.pid), process_table.boot())
        except OSError:
            os.killpg(popen.pid, signal.SIGKILL)
            popen.wait()
            self._close_gate()
            raise
        self._loop = asyncio.get_running_loop()
        self._leader_gone = asyncio.Event()
        self._released = asyncio.Event()
        self._leader.call_on_death(self._leader_gone.set)
        census.leaders.add(popen.pid)

    def release(self) -> None:
        """Let it through the gate."""
        if self._gate is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gate, b"\n")
            self._close_gate()
            self._released.set()

    async def released(self, patience_s: float) -> None:
        """Return once it is through the gate, or after `patience_s`. Being cancelled means `stop`."""
        try:
            async with asyncio.timeout(patience_s):
                await self._released.wait()
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            self.stop()

    def stop(self) -> None:
        """Make `ended` end it: SIGTERM and, after the grace period, SIGKILL. A second call means SIGKILL at once."""
        self._stopped = True
        at_once = self._kill_at is not None or self._gate is not None  # at the gate there is nothing to save
        self._kill_at = self._loop.time() + (0 if at_once else self._grace_s)

    @property
    def is_alive(self) -> bool:
        return not self._leader_gone.is_set()

    async def leader_gone(self) -> None:
        await self._leader_gone.wait()

    async def ended(self) -> Exit:
        """Wait for the leader, end what it left behind, and return how it ended. May be cancelled and called again."""
        if self._kill_at is None:
            await self._leader_gone.wait()
        if self._kill_at is None:
            self._kill_at = self._loop.time() + self._grace_s
        await _end(self._family, self._kill_at, group=self.handle.pid)
        return self._reap()

    async def run_out(self) -> tuple[Exit, bool]:
        """Like `ended`, but being cancelled means `stop`. The second value says whether it was stopped."""
        while True:
            try:
                return await self.ended(), self._stopped
            except asyncio.CancelledError:
                self.stop()

    def begin_attempt(self, marker: str) -> None:
        """From now on the leader serves another attempt."""
        self._marker = marker
        process_table.set_tag(self.handle.pid, marker)
        self._since = (process_table.newest_pid(), time.monotonic())

    async def left_behind(self) -> bool:
        """Whether any process started since `begin_attempt` is alive, apart from the leader."""
        return any(process.pid != self.handle.pid for process in await self._family())

    async def family(self) -> list[Process]:
        """Who of it is alive now."""
        return process_table.family(self.handle.pid, self._marker, await self._census.take())

    async def _family(self) -> list[Process]:
        stopping_it = self._kill_at is not None and self.is_alive
        among = None if stopping_it else self._nearby()
        if among is None:
            among = await self._census.take()
        return process_table.family(self.handle.pid, self._marker, among)

    def _nearby(self) -> list[Process] | None:
        """Live processes among the ids given out since it began, or None if those are too many to look at."""
        oldest, at = self._since
        found: list[Process] = []
        seen = oldest
        if time.monotonic() - at > _YOUNG_S:
            return None
        while 0 <= (newest := process_table.newest_pid()) - oldest <= _NEARBY_PIDS:
            if newest == seen:
                return found
            # A process may have started another one meanwhile: repeat until no process is new.
            given = range(seen + 1, newest + 1)
            found += process_table.processes(pid for pid in given if pid not in self._census.leaders)
            seen = newest
        return None

    def _reap(self) -> Exit:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.handle.pid, signal.SIGKILL)  # processes that joined the group after the last look
        self._census.leaders.discard(self.handle.pid)
        try:
            _, status, usage = os.wait4(self._popen.pid, 0)
        except ChildProcessError:  # other code in this process has reaped it
            self._popen.returncode, peak = 255, 0
        else:
            self._popen.returncode, peak = os.waitstatus_to_exitcode(status), usage.ru_maxrss
        self._leader.close()
        self._close_gate()
        # The kernel reports the parent's peak for a new process until it exceeds it: below that the peak is unknown.
        known = peak if peak > self._memory_before else 0
        killed = process_table.out_of_memory_kills() > self._kills_before
        return Exit(self._popen.returncode, known * MAXRSS_BYTES, killed)

    def _close_gate(self) -> None:
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None


def marker_of(journal: str, attempt: int) -> str:
    """A marker that only the processes of this attempt carry, unique across all journals."""
    return f"{journal}.{attempt}"


def shared_marker(journal: str) -> str:
    """The marker of processes that several attempts share."""
    return f"{journal}.shared"


def marked(env: dict[str, str], marker: str) -> dict[str, str]:
    """The environment with the attempt's marker, after markers of attempts that this dispatcher runs in."""
    outer = env.get(MARKER)
    return {**env, MARKER: f"{outer}{MARKER_SEPARATOR}{marker}" if outer else marker}


def spawn_gated(
    argv: Sequence[str],
    *,
    env: dict[str, str],
    cwd: Path,
    output: int,
    marker: str,
    grace_s: float,
    census: Census,
    input: str = os.devnull,
    errors: int | None = None,
    make: Callable[[MakeProcess], Any] | None = None,
) -> ProcessGroup:
    """The command as a process that waits for `release`. Raises OSError or ValueError if there can be none.

    `errors` takes its standard error if that is to go elsewhere; `make` has the process made under other conditions.
    """
    gate_read, gate_write = os.pipe()

    def popen_() -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*_LAUNCHER, input, *_with_odd_names(argv, env)],
            stdin=gate_read,
            stdout=output,
            stderr=output if errors is None else errors,
            env=marked(env, marker),
            cwd=cwd,
            start_new_session=True,
        )

    try:
        popen = popen_() if make is None else make(popen_)
    except BaseException:
        os.close(gate_write)
        raise
    finally:
        os.close(gate_read)
    return ProcessGroup(popen, marker, grace_s, census, gate_write)


def keep_exit_statuses() -> None:
    """Undo an inherited SIG_IGN for SIGCHLD: it makes the kernel discard the exit statuses of children."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def is_here(process: ProcessHandle | None) -> bool:
    """Whether its process id is valid here: it was started on this machine since the last boot."""
    return process is not None and process.boot in ("", process_table.boot())


async def reclaim(process: ProcessHandle, marker: str) -> None:
    """End what an attempt of a dead dispatcher left running; return when nothing of it is alive."""
    await reclaim_all([(process, marker)])


async def reclaim_all(lost: Iterable[tuple[ProcessHandle, str]]) -> None:
    """`reclaim` for many at once, with one look at the process table for all of them."""
    here = [(process, marker) for process, marker in lost if is_here(process)]

    async def survivors() -> list[Process]:
        everyone = await process_table.processes_aside()
        found = {p.pid: p for process, marker in here for p in _survivors(process, marker, everyone)}
        return list(found.values())

    if here:
        await _end(survivors, kill_at=0.0)


def _survivors(process: ProcessHandle, marker: str, everyone: list[Process]) -> list[Process]:
    """Processes that certainly belong to the attempt: by id and start time, by marker, or by the family of either."""
    everyone = [p for p in everyone if p.pid != os.getpid()]  # a dispatcher may be restarted from an attempt
    leader_is_it = any(p.pid == process.pid and p.born_at == process.born_at for p in everyone)
    tag = process_table.tag_of(marker)
    marked = {p.pid for p in everyone if marker in p.markers or p.tag == tag}
    # The leader is gone and its group is alive. The group is ours if a marked process is in it. Otherwise the id
    # may have been reused.
    led_by_it = any(p.session == process.pid and p.pid in marked for p in everyone) and not any(
        p.pid == process.pid for p in everyone
    )
    if leader_is_it or led_by_it:
        return process_table.family(process.pid, marker, everyone)
    return [p for p in everyone if p.pid in marked]


async def _end(find: Callable[[], Awaitable[list[Process]]], kill_at: float, group: int | None = None) -> None:
    """Signal what `find` finds until it finds nothing: SIGTERM before `kill_at`, SIGKILL after."""
    loop = asyncio.get_running_loop()
    untouchable: set[int] = set()
    while found := [process for process in await find() if process.pid not in untouchable]:
        left_s = kill_at - loop.time()
        number = signal.SIGTERM if left_s > 0 else signal.SIGKILL
        with contextlib.ExitStack() as closing:
            watched = _watched(found, closing)
            if group is not None:  # signal the whole group at once, whatever it is about to start
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, number)
            for held, process in watched.items():
                if not held.send(0 if process.group == group else number):
                    untouchable.add(process.pid)
                    _log.warning("process %d of another user cannot be stopped: it continues to run", process.pid)
            if not watched:
                await asyncio.sleep(0.01)  # it has ended meanwhile, or no descriptor is available now
            mortal = [held for held in watched if held.pid not in untouchable]
            if not await _all_dead(mortal, left_s if left_s > 0 else _UNKILLABLE_S) and left_s <= 0:
                _log.warning("killed processes have not ended; waiting for %s", [held.pid for held in watched])


def _watched(found: list[Process], closing: contextlib.ExitStack) -> dict[HeldProcess, Process]:
    watched = {}
    for process in found:
        try:
            held = hold(process.pid)
        except OSError:  # it has ended meanwhile, or is a thread
            continue
        closing.callback(held.close)
        if process_table.born_at(process.pid) == process.born_at:
            watched[held] = process
    return watched


async def _all_dead(held: Iterable[HeldProcess], timeout_s: float) -> bool:
    alive = set(held)
    all_dead = asyncio.Event()

    def note_dead(process: HeldProcess) -> None:
        alive.discard(process)
        if not alive:
            all_dead.set()

    for process in alive:
        process.call_on_death(functools.partial(note_dead, process))
    try:
        if alive:
            await asyncio.wait_for(all_dead.wait(), timeout_s)
    except TimeoutError:
        return False
    finally:
        for process in alive:
            process.call_nothing()
    return True


def _with_odd_names(argv: Sequence[str], env: dict[str, str]) -> list[str]:
    """The argv, preceded by `env` for variables like `a.b`, which a shell would drop."""
    odd = [f"{name}={value}" for name, value in env.items() if not (name.isascii() and name.isidentifier())]
    return ["/usr/bin/env", *odd, *argv] if odd else list(argv)


def _born_at(pid: int) -> float:
    born_at = process_table.born_at(pid)
    if born_at is None:
        raise ProcessLookupError(f"process {pid} vanished")
    return born_at
