"""From a journal to a scheduler that stands where it ended."""

import gc

from manyhands.core import snapshot
from manyhands.core.model import Ending, EndingKind
from manyhands.core.scheduler import Scheduler
from manyhands.store.interface import Reader

#: How attempts end that were in flight when the dispatcher died.
LOST = Ending(EndingKind.LOST, "the dispatcher stopped while it ran")


def rebuild(journal: Reader, scheduler: Scheduler) -> None:
    """Fill an empty scheduler from the newest snapshot and the events after it."""
    # It makes millions of objects and no garbage: looking for some takes longer than the rest.
    collecting = gc.isenabled()
    gc.disable()
    try:
        _rebuild(journal, scheduler)
    finally:
        if collecting:
            gc.enable()


def _rebuild(journal: Reader, scheduler: Scheduler) -> None:
    seq = 0
    saved = journal.latest_snapshot()
    if saved is not None and snapshot.load(scheduler, saved[1]):
        seq = saved[0]
    scheduler.replay(event for _, event in journal.read(seq))
