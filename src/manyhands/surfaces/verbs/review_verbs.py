"""What happened in a run, and what is left to do about it."""

from pathlib import Path

from manyhands.engine.run_opening import attempt_directory
from manyhands.engine.store.store_opening import open_reader
from manyhands.errors import UnknownRun
from manyhands.hosts.landing.landing_record import read_record
from manyhands.surfaces.review.review_building import review_of
from manyhands.surfaces.review.review_types import Review
from manyhands.surfaces.verbs.store_view import View, find_run


def review_run(view: View, run: str | None) -> Review:
    """The review of that run, or of the newest."""
    name = find_run(view.book, run).name

    def undeclared(task: str, number: int) -> list[str]:
        try:
            return read_record(Path(attempt_directory(view.config.store_directory, name, task, number))).undeclared
        except (OSError, ValueError, RecursionError):
            return []  # the attempt had no workspace of its own

    reader = open_reader(view.place)
    try:
        review = review_of((event for _, event in reader.read()), name, view.now, undeclared)
    finally:
        reader.close()
    if review is None:
        raise UnknownRun(f"the journal does not have the beginning of run `{name}`", "`manyhands runs` lists the runs")
    return review
