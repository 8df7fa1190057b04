"""Tasks that do nothing on an async python host with every event on disk: the shared part of several questions."""

import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import Task
from manyhands.engine.run_opening import opening
from manyhands.engine.session import dispatching
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.python_executor import PythonExecutor, PythonSettings

WIDTH = 256


async def nothing() -> None:
    """The task."""


class Measured(NamedTuple):
    tasks_per_s: float
    waiting_bytes: float  # of memory for each waiting task
    journal: Path


def measure(
    count: int, durability: Literal["crash", "power"], directory: Path | None = None, store: str | None = None
) -> Measured:
    """Submit `count` tasks and have every one done, from the first byte submitted to the last ending on disk.

    The journal is in the directory, or in the database whose URL `store` is.
    """
    if directory is not None:
        return asyncio.run(_measure(count, durability, directory, store))
    # On the disk the project is on: /tmp may be memory, where syncing costs nothing.
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as made:
        return asyncio.run(_measure(count, durability, Path(made), store))


async def _measure(
    count: int, durability: Literal["crash", "power"], directory: Path, store: str | None = None
) -> Measured:
    host = Host("python", width=Width(WIDTH, WIDTH, WIDTH))

    def executors(journal: str, spawned: ProcessSpawned, ended: Ended, *_: object) -> Mapping[str, Executor]:
        return {"python": PythonExecutor(PythonSettings(workspace=Path.cwd(), journal=journal), spawned, ended)}

    place = directory / ".manyhands"
    async with dispatching(place, durability, [host], (), executors, store=store) as dispatcher:
        before = _resident_bytes()
        tasks = [Task(f"t{n}", kind="python", call="noop:nothing") for n in range(count)]
        start = time.perf_counter()
        await dispatcher.submit(*opening("noop", dispatcher.clock.now(), tasks))
        waiting = _resident_bytes() - before
        await dispatcher.wait_settled("noop")
        seconds = time.perf_counter() - start
        done = dispatcher.book.runs["noop"].counts["done"]  # type: ignore[index]
        assert done == count, f"{done} of {count} done"
        return Measured(count / seconds, waiting / count, place)


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
