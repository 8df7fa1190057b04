"""Rebuilds a scheduler from a journal, in the state in which the journal ends."""

import gc
from collections.abc import Iterator

from manyhands.core import snapshot
from manyhands.core.book import Book
from manyhands.core.events import AnyEvent
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.engine.store.contract.env_vault import EnvVault
from manyhands.engine.store.contract.journal import JournalReader

#: The ending of attempts that were in flight when the dispatcher died.
LOST = Ending(EndingKind.LOST, "the dispatcher stopped while it ran")


def rebuild(journal: JournalReader, scheduler: Scheduler) -> int:
    """Fill an empty scheduler from the newest snapshot and the events after it; returns the number of the last."""
    # This makes millions of objects and no garbage, and looking for garbage would take longer than the rest.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _rebuild(journal, scheduler)
    finally:
        if collecting:
            gc.enable()


def _rebuild(journal: JournalReader, scheduler: Scheduler) -> int:
    seq = 0
    saved = journal.latest_snapshot()
    if saved is not None and snapshot.load(scheduler, saved[1]):
        seq = saved[0]
    return catch_up(journal, scheduler, seq)


def catch_up(journal: JournalReader, scheduler: Scheduler, seq: int) -> int:
    """Replay the events after the one numbered `seq`; returns the number of the last."""
    last = seq

    def events() -> Iterator[AnyEvent]:
        nonlocal last
        for number, event in journal.read(seq):
            last = number
            yield event

    scheduler.replay(events())
    return last


def seal_records(book: Book, vault: EnvVault) -> None:
    """Journals of older versions have values of `env`. They must compare equal to tasks that come from a plan today."""
    for run in book.runs.values():
        for record in run.records.values():
            if record.task.env:
                record.task = vault.sealed(record.task)
