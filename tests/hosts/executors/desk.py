"""The dispatcher's place at an executor: gives orders, notes what is reported, releases what is held."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import Task
from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned

PATIENCE_S = 90.0


class Desk:
    def __init__(self, make: Callable[[ProcessSpawned, Ended], Executor], directory: Path, journal: str) -> None:
        self.releases = True  # as soon as a process is reported
        self.spawned: list[tuple[int, ProcessHandle]] = []
        self.reported: list[tuple[int, Ending]] = []
        self.journal = journal
        self._directory = directory
        self._changed = asyncio.Event()
        self._count = 0
        self.executor = make(self._note_spawned, self._note_ended)

    def start(self, task: Task, number: int = 1, last: Ending | None = None, **fields: Any) -> int:
        self._count += 1
        order = StartAttempt(self._count, "a-run", task, number, "a-host", last, **fields)
        self.executor.start(order, self.directory(self._count))
        return self._count

    def directory(self, attempt: int) -> Path:
        return self._directory / str(attempt)

    async def run(self, task: Task, number: int = 1, last: Ending | None = None, **fields: Any) -> Ending:
        return await self.ending(self.start(task, number, last, **fields))

    async def ending(self, attempt: int, within_s: float = PATIENCE_S) -> Ending:
        await self.until(lambda: self.endings(attempt), within_s)
        return self.endings(attempt)[0]

    def endings(self, attempt: int) -> list[Ending]:
        return [ending for number, ending in self.reported if number == attempt]

    async def until_spawned(self, times: int = 1) -> tuple[int, ProcessHandle]:
        await self.until(lambda: len(self.spawned) >= times)
        return self.spawned[times - 1]

    async def until(self, holds: Callable[[], Any], within_s: float = PATIENCE_S) -> None:
        """Wait for something an executor reports, or that can only be looked at (a file, a process)."""
        give_up_at = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < give_up_at, f"waited in vain; reported so far: {self.reported[-5:]}"
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), 0.01)
            except TimeoutError:
                continue

    def alive(self) -> list[int]:
        """The processes of all attempts of this desk."""
        return [
            process.pid
            for process in process_table.processes()
            if any(marker.startswith(f"{self.journal}.") for marker in process.markers)
        ]

    def _note_spawned(self, attempt: int, process: ProcessHandle) -> None:
        self.spawned.append((attempt, process))
        self._changed.set()
        if self.releases:
            self.executor.release(attempt)

    def _note_ended(self, attempt: int, ending: Ending) -> None:
        self.reported.append((attempt, ending))
        self._changed.set()
