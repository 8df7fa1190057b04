"""When a backlog with a schedule opens its next run. Pure: the journal says which times are dealt with.

A time that passed while no service ran is made up for once, however many were missed.
"""

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.events import ScheduleKept
from manyhands.sources.config.cron import Schedule


class Due(Struct, frozen=True):
    kept: ScheduleKept | None  # to be journalled together with the run that it opens, if it opens one
    opens: bool
    left_out: float | None  # the time for which no run is opened, because the one before is unfinished
    next_at: float


def first_kept(schedule: Schedule, source: str, book: Book, now: float) -> ScheduleKept | None:
    """Its times count from now on. None: they did before."""
    known = book.schedules.get(source)
    return None if known is not None and known[0] == schedule.text else ScheduleKept(now, source, schedule.text, now)


def due_of(schedule: Schedule, source: str, run: str, book: Book, now: float) -> Due:
    """What is due now for the backlog whose latest run is that one."""
    next_at = schedule.next_after(now)
    _, until = book.schedules[source]
    moment = schedule.latest(until, now)
    if moment is None:
        return Due(None, False, None, next_at)
    is_busy = is_unfinished(book, run)
    return Due(ScheduleKept(now, source, schedule.text, moment), not is_busy, moment if is_busy else None, next_at)


def is_unfinished(book: Book, run: str) -> bool:
    return run in book.runs and book.runs[run].unfinished > 0
