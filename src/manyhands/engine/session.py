"""A dispatcher at work on a store, from recovery to a clean close."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from manyhands.core.book import Book
from manyhands.core.events import HostsConfigured, RunDrained
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import AGENTS, Family, Host, ProcessHandle, Route, Rule
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.engine.clock import Clock
from manyhands.engine.dispatcher import SNAPSHOTS, Dispatcher, SnapshotPace
from manyhands.engine.leading import WaitTurn, guarding, lead
from manyhands.engine.recovery import LOST, rebuild, seal_records
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.contract.journal import Durability, Journal, JournalReader
from manyhands.engine.store.store_opening import Where
from manyhands.hosts.executors.descriptor_limit import raise_descriptor_limit
from manyhands.hosts.executors.executor import Asked, Ended, Executor, ProcessSpawned, Retried, Showed
from manyhands.hosts.executors.process import NO_PROCESS, is_here, marker_of, reclaim_all, shared_marker

#: Makes the executor of each host, given the journal's identity and the callbacks to tell.
ExecutorsFor = Callable[[str, ProcessSpawned, Ended, Showed, Retried, Asked], Mapping[str, Executor]]


class Surroundings(NamedTuple):
    """What a session takes from the machine it runs on. The simulator passes its own."""

    #: A clock that does not show a time before the given one.
    clock_from: Callable[[float], Clock] = Clock
    #: Kills what these processes, with the markers they carry, have left behind.
    reclaim: Callable[[Iterable[tuple[ProcessHandle, str]]], Awaitable[None]] = reclaim_all
    #: Was this process started where we can kill it?
    is_here: Callable[[ProcessHandle | None], bool] = is_here
    snapshots: SnapshotPace = SNAPSHOTS
    #: Watches over the processes of attempts while the dispatcher lives.
    guarding: Callable[[Journal, Dispatcher], AbstractContextManager[None]] = guarding


THIS_MACHINE = Surroundings()


@asynccontextmanager
async def dispatching(
    directory: Path,
    durability: Durability,
    hosts: Sequence[Host],
    rules: Sequence[Rule],
    executors_for: ExecutorsFor,
    *,
    families: Sequence[Family] = (),
    routes: Sequence[Route] = (),
    budgets: Sequence[SpendingLimit] = (),
    all_runs_go_on: bool = False,
    store: Where | None = None,
    wait_turn: WaitTurn | None = None,
    secrets: Secrets | None = None,
) -> AsyncIterator[Dispatcher]:
    """Runs left unfinished wait for their RunResumed unless `all_runs_go_on`: whoever came for one run gets that one.

    The journal is in `directory` unless `store` is elsewhere; the output of attempts is always in `directory`.
    """
    raise_descriptor_limit()
    journal = await lead(store if store is not None else directory, durability, wait_turn)
    try:
        _calm_collector()
        configured = HostsConfigured(0.0, tuple(hosts), tuple(rules), tuple(families), tuple(routes), tuple(budgets))
        async with dispatching_on(
            journal, directory, configured, executors_for, all_runs_go_on, secrets=secrets
        ) as dispatcher:
            yield dispatcher
    finally:
        await asyncio.to_thread(journal.close)


@asynccontextmanager
async def dispatching_on(
    journal: Journal,
    directory: Path,
    configured: HostsConfigured,
    executors_for: ExecutorsFor,
    all_runs_go_on: bool,
    surroundings: Surroundings = THIS_MACHINE,
    secrets: Secrets | None = None,
) -> AsyncIterator[Dispatcher]:
    """Recover from the journal that this dispatcher leads, then work on it."""
    scheduler = Scheduler()
    rebuild(journal, scheduler)
    await _kill_survivors(scheduler, journal.identity, surroundings)
    clock = surroundings.clock_from(scheduler.book.at)
    dispatcher = Dispatcher(scheduler, journal, directory, clock, surroundings.snapshots, secrets)
    seal_records(scheduler.book, dispatcher.vault)
    with surroundings.guarding(journal, dispatcher):
        dispatcher.found = tuple(scheduler.book.running.values())
        executors = executors_for(
            journal.identity,
            dispatcher.spawned,
            dispatcher.ended,
            dispatcher.showed,
            dispatcher.retried,
            dispatcher.asked,
        )
        for run in () if all_runs_go_on else _left_over(scheduler.book, journal):
            dispatcher.tell(RunDrained(clock.now(), run))
        # Before the requests that wait: one of them may be about a host that is new.
        dispatcher.tell(replace(configured, at=clock.now()))
        dispatcher.start(executors)
        # After the requests that wait: a task that somebody has cancelled must not be skipped before that is heard.
        _adopt_or_end_lost(dispatcher, executors, journal.strangers_s, surroundings)
        try:
            await dispatcher.submit()
            yield dispatcher
        finally:
            await dispatcher.close()


def _adopt_or_end_lost(
    dispatcher: Dispatcher, executors: Mapping[str, Executor], strangers_s: float, surroundings: Surroundings
) -> None:
    """What was in flight when a dispatcher died is adopted, or lost.

    What nobody can kill from here is lost only when it is surely dead.
    """
    for running in dispatcher.found:
        if dispatcher.adopt(running, executors.get(running.host.name)):
            continue
        if strangers_s and not surroundings.is_here(running.process):
            asyncio.get_running_loop().call_later(strangers_s, dispatcher.ended, running.attempt, LOST)
        else:
            dispatcher.ended(running.attempt, LOST)


def _left_over(book: Book, journal: JournalReader) -> list[str]:
    """Runs with something to start: unfinished ones, and ended ones that have a request waiting."""
    asked = {getattr(event, "run", "") for _, event in journal.requests()}
    return [run.name for run in book.runs.values() if not run.draining and (run.ended_at is None or run.name in asked)]


def _calm_collector() -> None:
    """A dispatcher makes few cycles and keeps what it makes: looking for garbage every 700 objects cost 5 to 15 %."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def _kill_survivors(scheduler: Scheduler, identity: str, surroundings: Surroundings) -> None:
    """Nothing of an attempt that a dead dispatcher left behind may live when its claims become free."""
    lost = [
        (running.process, marker_of(identity, running.attempt))
        for running in scheduler.book.running.values()
        if running.process is not None
    ]
    if any(host.host.nature == AGENTS for host in scheduler.book.hosts.values()):
        lost.append((NO_PROCESS, shared_marker(identity)))  # which several attempts had, or none
    await surroundings.reclaim(lost)
