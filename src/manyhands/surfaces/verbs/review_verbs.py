"""What happened in a run, in a part of one, or in all runs of a period, and what is left to do about it."""

import datetime
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import msgspec

from manyhands.core.events import AnyEvent
from manyhands.core.state import Run
from manyhands.durations import parse_duration
from manyhands.engine.run_opening import attempt_directory
from manyhands.engine.store.store_opening import Where, open_reader
from manyhands.errors import UnknownRun, UsageError
from manyhands.hosts.landing.landing_record import read_record
from manyhands.surfaces.review.review_building import Undeclared, review_of, reviews_of
from manyhands.surfaces.review.review_types import PeriodReview, Review
from manyhands.surfaces.verbs.store_view import RESERVED_RUN, View, find_run

#: Nobody reads more at once. A shorter period tells of the others.
SEGMENTS_MAX = 50


def review(
    view: View, run: str | None = None, epic: str = "", since: str | None = None, until: str | None = None
) -> Review | PeriodReview:
    """Of one run or an epic of it, or with `since` of a period."""
    if since is None and until is not None:
        raise UsageError("`until` ends a period, and `since` begins it", "`manyhands review --since 7d --until 1d`")
    if since is not None and (run is not None or epic):
        raise UsageError(
            "a review is of one run or of a period, not of both", "leave out the run and the epic, or `since`"
        )
    return review_run(view, run, epic) if since is None else review_period(view, since, until)


def review_run(view: View, run: str | None, epic: str = "") -> Review:
    """The review of that run, or of the newest; with an epic, only of the tasks below that parent."""
    found = find_run(view.book, run)
    if epic and not any(epic in (id, record.task.parent) for id, record in found.records.items()):
        raise UsageError(
            f"run {found.name} has no task or parent `{epic[:100]}`",
            f"`manyhands task tree --run {found.name}` shows them",
        )
    review = review_of_journal(view.place, view.config.store_directory, found.name, view.now, epic)
    if review is None:
        raise UnknownRun(
            f"the journal does not have the beginning of run `{found.name}`", "`manyhands runs` lists the runs"
        )
    return review


def review_of_journal(where: Where, directory: Path, run: str, now: float, epic: str = "") -> Review | None:
    """`directory` is where attempts left their files. None if the journal does not have the run's beginning."""
    with _journal(where) as journal:
        return review_of(journal, run, now, _undeclared(directory)(run), epic)


def review_period(view: View, since: str, until: str | None = None) -> PeriodReview:
    """Of all runs that were at work in the period, as they stood at its end."""
    begin = moment_of("since", since, view.now)
    end = view.now if until is None else min(view.now, moment_of("until", until, view.now))
    if begin >= end:
        raise UsageError("the period ends before it begins", "`--since 7d --until 1d` is six days")
    runs = [run for run in view.book.runs.values() if run.name != RESERVED_RUN and _was_at_work(run, begin, end)]
    told = [run.name for run in reversed(runs)][:SEGMENTS_MAX]
    with _journal(view.place) as journal:
        before = takewhile(lambda event: event.at <= end, journal)
        segments = reviews_of(before, told, end, _undeclared(view.config.store_directory), begin)
    return PeriodReview(begin, end, segments, len(runs))


def _was_at_work(run: Run, begin: float, end: float) -> bool:
    return run.opened_at <= end and (run.ended_at is None or run.ended_at >= begin)


def moment_of(name: str, text: str, now: float) -> float:
    """`7d` ago, or the beginning of `2026-11-12`, or `2026-11-12T14:30`, on this machine's clock."""
    if (ago_s := parse_duration(text)) is not None:
        return now - ago_s
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"`{name}` must be a length of time or a date, got `{text[:60]}`", "for example `7d`, `12h` or `2026-11-12`"
        ) from None


@contextmanager
def _journal(where: Where) -> Iterator[Iterator[AnyEvent]]:
    reader = open_reader(where)
    try:
        yield (event for _, event in reader.read())
    finally:
        reader.close()


def _undeclared(directory: Path) -> Callable[[str], Undeclared]:
    def of(run: str) -> Undeclared:
        def written(task: str, number: int) -> list[str]:
            try:
                return read_record(Path(attempt_directory(directory, run, task, number))).undeclared
            except (OSError, msgspec.MsgspecError):
                return []  # the attempt had no workspace of its own

        return written

    return of
