"""Ends an attempt that takes more than its host allows, and says what it took."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.process import Exit, ProcessGroup
from manyhands.hosts.executors.process_source import Process
from manyhands.sources.config.host_fields import ProcessLimits

#: Between two looks. What an attempt takes in between is over its limit before it is stopped.
LOOK_S = 0.5
_MB = 1e6


class LimitWatch:
    """Watches one command of an attempt, with all processes that it starts."""

    def __init__(
        self,
        limits: ProcessLimits,
        group: ProcessGroup,
        running: "asyncio.Task[tuple[Exit, bool]]",
        output: int,
        begin: int,
        own: Sequence[Path],
    ) -> None:
        """`running` is cancelled when a limit is reached, which stops the command. Nobody else writes to `own`."""
        self._limits = limits
        self._group = group
        self._running = running
        self._output = output
        self._begin = begin
        self._own = own
        self.reached = ""
        self._task = asyncio.create_task(self._watch())

    def close(self) -> None:
        self._task.cancel()

    async def _watch(self) -> None:
        was_there = await self._disk_bytes()
        while not self.reached:
            await asyncio.sleep(LOOK_S)
            self.reached = self._over(await self._group.family()) or self._over_disk(
                await self._disk_bytes() - was_there
            )
        self._running.cancel()

    def _over_disk(self, added: int) -> str:
        limit = self._limits.disk_mb
        if limit is None or added <= limit * _MB:
            return ""
        return f"reached its limit of {limit:,g} MB of disk: it added {added / _MB:,.1f} MB to its directories"

    async def _disk_bytes(self) -> int:
        """Beside the loop, because a task may have made a million files."""
        if self._limits.disk_mb is None:
            return 0
        return await asyncio.to_thread(lambda: sum(map(_bytes_below, self._own)))

    def _over(self, family: list[Process]) -> str:
        limits = self._limits
        if limits.processes is not None and len(family) > limits.processes:
            return f"reached its limit of {limits.processes:,} processes: it had {len(family):,}"
        if limits.memory_mb is not None and (used := _memory_bytes(family) / _MB) > limits.memory_mb:
            return f"reached its limit of {limits.memory_mb:,g} MB of memory: it used {used:,.0f} MB"
        if limits.cpu is not None and (took_s := self._cpu_of(family)) > limits.cpu:
            return f"reached its limit of {limits.cpu:,g} s of processor time: it took {took_s:,.1f} s"
        if limits.output_mb is not None and (printed := self._printed_bytes() / _MB) > limits.output_mb:
            return f"reached its limit of {limits.output_mb:,g} MB of output: it printed {printed:,.1f} MB"
        return ""

    def _cpu_of(self, family: list[Process]) -> float:
        """Of those that are alive. A parent has the time of the children that it waited for."""
        return sum(process_table.cpu_s(process.pid) for process in family)

    def _printed_bytes(self) -> int:
        return os.fstat(self._output).st_size - self._begin


def over_limit(ending: Ending, reached: str) -> Ending:
    """The ending, with the limit as the reason if the attempt was stopped for one."""
    if not reached or ending.kind is EndingKind.DONE:
        return ending
    return replace(ending, kind=EndingKind.FAILED, detail=reached)


def _memory_bytes(family: Iterable[Process]) -> int:
    """Resident memory. What processes share is counted for each of them."""
    return sum(process_table.resident_bytes(process.pid) for process in family)


def _bytes_below(directory: Path) -> int:
    """What its files take on disk, without following links. What vanishes meanwhile takes nothing."""
    taken, ahead = 0, [os.fspath(directory)]
    while ahead:
        try:
            with os.scandir(ahead.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        ahead.append(entry.path)
                    else:
                        taken += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return taken
