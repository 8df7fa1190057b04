"""A dispatcher at work on a store, from recovery to a clean close."""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from manyhands.core.events import HostsConfigured
from manyhands.core.model import Host, Rule
from manyhands.core.scheduler import Scheduler
from manyhands.executors.interface import Ended, Executor, Spawned
from manyhands.executors.process import marker_of, reclaim_all
from manyhands.runtime.clock import Clock
from manyhands.runtime.dispatcher import Dispatcher
from manyhands.runtime.recover import LOST, rebuild
from manyhands.store.interface import Durability
from manyhands.store.sqlite import open_journal

#: Makes the executor of each host, given the journal's identity and whom to tell.
ExecutorsFor = Callable[[str, Spawned, Ended], Mapping[str, Executor]]


@asynccontextmanager
async def dispatching(
    directory: Path,
    durability: Durability,
    hosts: Sequence[Host],
    rules: Sequence[Rule],
    executors_for: ExecutorsFor,
) -> AsyncIterator[Dispatcher]:
    journal = open_journal(directory, durability)
    try:
        scheduler = Scheduler()
        rebuild(journal, scheduler)
        identity = _identity(directory)
        await _kill_survivors(scheduler, identity)
        clock = Clock(not_before=scheduler.book.at)
        dispatcher = Dispatcher(scheduler, journal, directory, clock)
        dispatcher.start(executors_for(identity, dispatcher.spawned, dispatcher.ended))
        try:
            for attempt in list(scheduler.book.running):
                dispatcher.ended(attempt, LOST)
            await dispatcher.submit(HostsConfigured(clock.now(), tuple(hosts), tuple(rules)))
            yield dispatcher
        finally:
            await dispatcher.close()
    finally:
        journal.close()


async def _kill_survivors(scheduler: Scheduler, identity: str) -> None:
    """Nothing of an attempt that a dead dispatcher left behind may live when its claims become free."""
    await reclaim_all(
        (running.process, marker_of(identity, running.attempt))
        for running in scheduler.book.running.values()
        if running.process is not None
    )


def _identity(directory: Path) -> str:
    """Names this journal in the environment of its processes: the same after a restart, another for a copy."""
    file = directory.absolute() / "journal.db"
    return hashlib.sha256(f"{file}:{file.stat().st_ino}".encode()).hexdigest()[:16]
