"""A dispatcher at work on a store, from recovery to a clean close."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from manyhands.core.book import Book
from manyhands.core.events import HostsConfigured, RunDrained
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.host import Family, Host, Route, Rule
from manyhands.engine.clock import Clock
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.leading import WaitTurn, guarding, lead
from manyhands.engine.recovery import LOST, rebuild
from manyhands.engine.store.contract.journal import Durability, Reader
from manyhands.engine.store.store_opening import Where
from manyhands.hosts.executors.executor import Ended, Executor, Spawned
from manyhands.hosts.executors.process import is_here, marker_of, reclaim_all

#: Makes the executor of each host, given the journal's identity and whom to tell.
ExecutorsFor = Callable[[str, Spawned, Ended], Mapping[str, Executor]]


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
    all_runs_go_on: bool = False,
    store: Where | None = None,
    wait_turn: WaitTurn | None = None,
) -> AsyncIterator[Dispatcher]:
    """Runs left unfinished wait for their RunResumed unless `all_runs_go_on`: who came for one gets that one.

    The journal is in `directory` unless `store` is elsewhere; what attempts put out is in `directory` always.
    """
    journal = await lead(store if store is not None else directory, durability, wait_turn)
    try:
        _calm_collector()
        scheduler = Scheduler()
        rebuild(journal, scheduler)
        await _kill_survivors(scheduler, journal.identity)
        clock = Clock(not_before=scheduler.book.at)
        dispatcher = Dispatcher(scheduler, journal, directory, clock)
        with guarding(journal, dispatcher):
            dispatcher.found = tuple(scheduler.book.running.values())
            executors = executors_for(journal.identity, dispatcher.spawned, dispatcher.ended)
            _adopt_or_end_lost(dispatcher, executors, journal.strangers_s)
            for run in () if all_runs_go_on else _left_over(scheduler.book, journal):
                dispatcher.tell(RunDrained(clock.now(), run))
            # Before what others have asked for meanwhile: of a host, for one, that is new.
            dispatcher.tell(HostsConfigured(clock.now(), tuple(hosts), tuple(rules), tuple(families), tuple(routes)))
            dispatcher.start(executors)
            try:
                await dispatcher.submit()
                yield dispatcher
            finally:
                await dispatcher.close()
    finally:
        await asyncio.to_thread(journal.close)


def _adopt_or_end_lost(dispatcher: Dispatcher, executors: Mapping[str, Executor], strangers_s: float) -> None:
    """What was in flight under a dispatcher that died; of what nobody here can kill, only when it is surely dead."""
    for running in dispatcher.found:
        if dispatcher.adopt(running, executors.get(running.host.name)):
            continue
        if strangers_s and not is_here(running.process):
            asyncio.get_running_loop().call_later(strangers_s, dispatcher.ended, running.attempt, LOST)
        else:
            dispatcher.ended(running.attempt, LOST)


def _left_over(book: Book, journal: Reader) -> list[str]:
    """Runs with something to start: unfinished ones, and ended ones that someone has asked something of since."""
    asked = {getattr(event, "run", "") for _, event in journal.requests()}
    return [run.name for run in book.runs.values() if not run.draining and (run.ended_at is None or run.name in asked)]


def _calm_collector() -> None:
    """A dispatcher makes few cycles and keeps what it makes: looking for garbage every 700 objects cost 5 to 15 %."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def _kill_survivors(scheduler: Scheduler, identity: str) -> None:
    """Nothing of an attempt that a dead dispatcher left behind may live when its claims become free."""
    await reclaim_all(
        (running.process, marker_of(identity, running.attempt))
        for running in scheduler.book.running.values()
        if running.process is not None
    )
