"""Takes the lead of a journal that other dispatchers may lead too, and stops attempts when the lead is lost."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.store.contract.journal import Durability, Journal
from manyhands.engine.store.store_opening import Where, open_journal, open_stand_by
from manyhands.errors import StoreBroken, StoreBusy

_log = logging.getLogger(__name__)


class StoppedStandingBy(StoreBusy):
    """The wait was ended while another dispatcher still leads."""


#: Called with the error that names the leader, before this dispatcher waits; returns when it should stop waiting.
WaitTurn = Callable[[StoreBusy], Awaitable[object]]


async def lead(where: Where, durability: Durability, wait_turn: WaitTurn | None) -> Journal:
    """The journal, once this dispatcher leads it. If another leads, raises StoreBusy unless there is a `wait_turn`."""
    try:
        # Beside the loop: this waits for the lease of a leader that has died.
        return await asyncio.to_thread(open_journal, where, durability)
    except StoreBusy as led:
        if wait_turn is None or isinstance(where, Path):
            raise
        busy = led
    stand_by = await asyncio.to_thread(open_stand_by, where)
    enough = asyncio.ensure_future(wait_turn(busy))
    try:
        while not enough.done():
            if await asyncio.to_thread(stand_by.wait):
                with suppress(StoreBusy, StoreBroken):  # another dispatcher was faster, or the server is gone
                    return await asyncio.to_thread(open_journal, where, durability)
        raise StoppedStandingBy(busy.message)
    finally:
        enough.cancel()
        stand_by.close()


@contextmanager
def guarding(journal: Journal, dispatcher: Dispatcher) -> Iterator[None]:
    """Nothing that the dispatcher started outlives it, or its lead if others may take over the journal."""
    from manyhands.hosts.executors.attempt_guard import AttemptGuard, CrashGuard

    if not journal.is_shared:
        crash_guard = CrashGuard(journal.identity)
        try:
            yield
        finally:
            crash_guard.dismiss()
        return

    loop = asyncio.get_running_loop()
    guard = AttemptGuard(journal.identity)

    def cut_off() -> None:
        _log.warning("the store did not answer until the lease ran out, so all running attempts are stopped")
        if not loop.is_closed():
            loop.call_soon_threadsafe(dispatcher.cut_off)

    journal.watch(guard.keep_until, cut_off)
    try:
        yield
    finally:
        journal.watch(lambda until: None, lambda: None)
        guard.dismiss()
