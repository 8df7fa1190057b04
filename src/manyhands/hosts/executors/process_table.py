"""What the system says about processes: which are alive, since when, in which group, and for which attempt.

This module sends no signals.
"""

import asyncio
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from manyhands.hosts.executors.linux_processes import LinuxProcesses
from manyhands.hosts.executors.portable_processes import PortableProcesses
from manyhands.hosts.executors.process_source import HAS_PROC, Process, ProcessSource

# A separate thread: tasks' functions may occupy all threads of the loop, and a stop must not wait for them.
_reader = ThreadPoolExecutor(1, "process-table")

_source: ProcessSource = LinuxProcesses() if HAS_PROC else PortableProcesses()
born_at = _source.born_at
birth_clock = _source.birth_clock
cpu_s = _source.cpu_s
resident_bytes = _source.resident_bytes
directory = _source.directory
boot = _source.boot
newest_pid = _source.newest_pid
out_of_memory_kills = _source.out_of_memory_kills


def tag_of(marker: str) -> int:
    """The same as the marker in 63 bits. A later attempt of a journal has a lower tag."""
    journal, _, attempt = marker.rpartition(".")
    number = int(attempt) if attempt.isdecimal() else zlib.crc32(attempt.encode())
    return journal_tag(journal) | (0xFFFFFFFF - number % 2**32)


def journal_tag(journal: str) -> int:
    """What the tags of all its attempts have in common: all but their lowest 32 bits."""
    return 1 << 62 | (zlib.crc32(journal.encode()) & 0x3FFFFFFF) << 32


def set_tag(pid: int, marker: str) -> None:
    _source.set_tag(pid, tag_of(marker))


def processes(pids: Iterable[int] | None = None) -> list[Process]:
    """The live processes among `pids` (default: all on this machine that we may read)."""
    asked = _source.pids() if pids is None else pids
    return [process for pid in asked if (process := _source.process(pid)) is not None]


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
