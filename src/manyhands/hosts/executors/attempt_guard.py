"""A process beside a dispatcher. It kills the dispatcher's attempts when the dispatcher cannot.

If the journal is shared, a dispatcher that takes over on another machine cannot reach these attempts. It releases
their claims some time after the lease has expired. By then they must be dead, even if the leader was killed or stopped.
The guard therefore outlives the leader. Run as a program, this module is the guard.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time

from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.process_source import BOOT_CLOCK, HAS_PROC

#: Waited after the lease has expired, so that a live leader can stop its attempts itself and record their endings.
_LEADER_FIRST_S = 0.3
_LOOK_AGAIN_S = 0.02
_DISMISSED = b"dismissed"
#: /proc/uptime shows hundredths of a second, cut off.
_UPTIME_STEP_S = 0.02


class AttemptGuard:
    """The leader's side of the guard."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", __name__, self._journal]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, bufsize=0)
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def keep_until(self, until: float) -> None:
        """Let the attempts live until then, in seconds since boot."""
        with self._lock:
            if self._process.poll() is not None and self._process.returncode:
                self._process = self._start()  # the guard was killed
            self._tell(b"%.6f" % until)

    def dismiss(self) -> None:
        """End the guard, because all attempts have ended."""
        with self._lock:
            self._tell(_DISMISSED)
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()

    def _tell(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            self._process.stdin.write(line + b"\n")


class CrashGuard:
    """Waits beside a dispatcher whose journal nobody else can lead. If it dies, this kills its attempts.

    A shell waits, because that costs next to nothing. Python is started only for the killing. A system without /proc
    has no exact time in a shell, so Python waits there.
    """

    # /proc/uptime is read at once: attempts that the next dispatcher starts meanwhile are not ours.
    _SCRIPT = 'trap "" INT TERM HUP; read -r line && exit 0; read -r died rest </proc/uptime; exec "$@" "$died"'

    def __init__(self, journal: str) -> None:
        command = [sys.executable, "-m", __name__, journal]
        if HAS_PROC:
            command = ["/bin/sh", "-c", self._SCRIPT, "sh", *command]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, bufsize=0)

    def dismiss(self) -> None:
        """End it, because all attempts have ended."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(_DISMISSED + b"\n")
        self._process.stdin.close()
        self._process.wait()


def main(journal: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the guard ends when its leader has ended
    until: float | None = None
    told = b""
    while True:
        left_s = None if until is None else max(0.0, until + _LEADER_FIRST_S - _now())
        if select.select([sys.stdin.fileno()], [], [], left_s)[0]:
            more = os.read(sys.stdin.fileno(), 4096)
            lines = (told + more).split(b"\n")
            told = lines.pop()
            if _DISMISSED in lines:
                return
            if not more:
                kill_all(journal, before=_now())
                return
            until = max((float(line) for line in lines), default=until)
        else:
            assert until is not None
            # Later attempts belong to the next leader, if that is on this machine too.
            kill_all(journal, before=until)
            until = None


def kill_all(journal: str, before: float) -> None:
    """Kill the attempts of this journal that ran before then (seconds since boot); return when all of them are dead."""
    attempts: set[int] = set()
    before = process_table.birth_clock(before)
    while alive := _alive(journal, before, attempts):
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_AGAIN_S)


def _alive(journal: str, before: float, attempts: set[int]) -> set[int]:
    """The processes of those attempts. `attempts` remembers their tags: what they fork while they die is theirs too."""
    everyone = process_table.processes()
    ours = process_table.journal_tag(journal) >> 32
    attempts.update(p.tag for p in everyone if p.tag >> 32 == ours and p.born_at < before)
    found = {p.pid for p in everyone if p.tag in attempts}
    for process in everyone:
        for marker in process.markers:
            tag = process_table.tag_of(marker)
            if marker.startswith(f"{journal}.") and (process.born_at < before or tag in attempts):
                attempts.add(tag)
                found |= {p.pid for p in process_table.family(process.pid, marker, everyone)}
    return found - {os.getpid(), os.getppid()}


def _now() -> float:
    return time.clock_gettime(BOOT_CLOCK)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        kill_all(sys.argv[1], before=float(sys.argv[2]) + _UPTIME_STEP_S)
    else:
        main(sys.argv[1])
