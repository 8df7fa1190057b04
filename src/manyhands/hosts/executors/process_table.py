"""What the kernel says about processes: which are alive, since when, in which group, and for which attempt.

This module reads Linux's /proc and sends no signals. A zombie counts as dead: it runs nothing and holds nothing.
"""

import asyncio
import contextlib
import functools
import os
import resource
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

#: Every process of an attempt inherits this variable. It identifies processes that have left the group.
MARKER = "MANYHANDS_ATTEMPT"
#: A dispatcher that itself runs in an attempt passes both markers on, separated by this.
MARKER_SEPARATOR = "/"

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# A separate thread: tasks' functions may occupy all threads of the loop, and a stop must not wait for them.
_reader = ThreadPoolExecutor(1, "process-table")
_ENVIRON_KEY = f"\0{MARKER}=".encode()
_READ_BYTES = 32_768
_FIRST_PROCESS_IDS = "pid:[4026531836]"  # of the machine itself; a container has its own space of ids


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    born_at: float  # seconds since the machine's boot: exact, and the same for every reader
    markers: tuple[str, ...]
    tag: int = 0  # the number of the attempt that it inherited; 0 if it has none, or may not be asked


def born_at(pid: int) -> float | None:
    """When the process started, or None if no process, alive or dead, has that id."""
    fields = _stat(pid)
    return None if fields is None else _born_at(fields)


def cpu_s(pid: int) -> float:
    """The processor time of the process and of its children that have ended; 0 if it is gone."""
    fields = _stat(pid)
    return 0.0 if fields is None else sum(int(ticks) for ticks in fields[11:15]) / _TICKS_PER_S


@functools.cache
def boot() -> str:
    """Identifies this boot and container. Process ids and start times are valid only within both."""
    try:
        this_boot = _read("/proc/sys/kernel/random/boot_id").decode().strip()[:8]
        ids = os.readlink("/proc/self/ns/pid")
    except OSError:  # a sandbox that hides it
        return ""
    return this_boot if ids == _FIRST_PROCESS_IDS else f"{this_boot} {ids}"


def newest_pid() -> int:
    """The id given out last, or -1 if it is unknown. Ids are given out in order and wrap around."""
    try:
        return int(_read("/proc/loadavg").rsplit(maxsplit=1)[-1])
    except (OSError, IndexError, ValueError):
        return -1


def out_of_memory_kills() -> int:
    """How many processes the kernel has killed for lack of memory since boot, control groups included."""
    try:
        _, _, rest = _read("/proc/vmstat").partition(b"\noom_kill ")
    except OSError:
        return 0
    return int(rest.split(maxsplit=1)[0]) if rest else 0


def tag_of(marker: str) -> int:
    """The same as the marker in 63 bits. A later attempt of a journal has a lower tag.

    It is the bound of the resident memory (RLIMIT_RSS), which Linux has not looked at since version 2.4. Every process
    inherits it, also with an empty environment, in another session and with another parent.
    """
    journal, _, attempt = marker.rpartition(".")
    number = int(attempt) if attempt.isdecimal() else zlib.crc32(attempt.encode())
    return journal_tag(journal) | (0xFFFFFFFF - number % 2**32)


def journal_tag(journal: str) -> int:
    """What the tags of all its attempts have in common: all but their lowest 32 bits."""
    return 1 << 62 | (zlib.crc32(journal.encode()) & 0x3FFFFFFF) << 32


def set_tag(pid: int, marker: str) -> None:
    """Only root can set a tag above one that is there; then a process is known by its marker and parents alone."""
    tag = tag_of(marker)
    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_RSS, (tag, tag))


def processes(pids: Iterable[int] | None = None) -> list[Process]:
    """The live processes among `pids` (default: all on this machine that we may read)."""
    if pids is None:
        pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return [process for pid in pids if (process := _process(pid)) is not None]


def family(root: int, marker: str, among: Iterable[Process]) -> list[Process]:
    """`root` itself and the processes in its group or session, below it, or with the marker of its attempt.

    The id `root` must not have been reused: it is alive, or dead and unreaped, or gone with its group still there.
    """
    everyone = list(among)
    tag = tag_of(marker)
    kin = {root} | {p.pid for p in everyone if root in (p.group, p.session) or marker in p.markers or p.tag == tag}
    grew = True
    while grew:
        below = {p.pid for p in everyone if p.parent in kin} - kin
        kin |= below
        grew = bool(below)
    return [p for p in everyone if p.pid in kin]


async def processes_aside() -> list[Process]:
    """All processes, read in a thread outside the loop."""
    return await asyncio.get_running_loop().run_in_executor(_reader, processes)


class Census:
    """Readings of the whole table. Each is shared by all callers that asked before it began.

    When hundreds of attempts end or are stopped at once, they pay for one or two readings, not hundreds.
    """

    def __init__(self) -> None:
        #: Each of these leads the family of an attempt and belongs to no other family, so others can ignore it.
        self.leaders: set[int] = set()
        self._asked: asyncio.Future[list[Process]] | None = None
        self._reader: asyncio.Task[None] | None = None

    async def take(self) -> list[Process]:
        """A reading that began after this call."""
        if self._asked is None:
            self._asked = asyncio.get_running_loop().create_future()
            if self._reader is None:
                self._reader = asyncio.create_task(self._read())
        return await asyncio.shield(self._asked)

    async def _read(self) -> None:
        try:
            while (asked := self._asked) is not None:
                self._asked = None  # callers that ask from now on must not get this reading
                try:
                    asked.set_result(await processes_aside())
                except BaseException as error:
                    asked.set_exception(error)
                    asked.exception()  # mark it as seen: no caller may be left
                    raise
        finally:
            self._reader = None


def _process(pid: int) -> Process | None:
    fields = _stat(pid)
    if fields is None or (fields[0] in (b"Z", b"X") and int(fields[17]) <= 1):
        return None  # a dead leader whose other threads still run is alive
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), _born_at(fields), _markers(pid), _tag(pid))


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
    if not found:
        return ()
    value = rest.partition(b"\0")[0].decode(errors="replace")
    return tuple(filter(None, value.split(MARKER_SEPARATOR)))


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _READ_BYTES)
        while more := os.read(descriptor, _READ_BYTES):  # /proc may return less than asked for, with more to come
            content += more
        return content
    finally:
        os.close(descriptor)
