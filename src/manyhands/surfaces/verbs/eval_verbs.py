"""How far the evals of a store are."""

from manyhands.apps.evals.eval_progress import EvalProgress, progress_of
from manyhands.core.values.provenance import Purpose
from manyhands.errors import UnknownRun
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.book_view import BookView


def show_eval(view: BookView, name: str | None) -> EvalProgress:
    """The eval of that name, or the newest."""
    names = [run.name for run in view.book.runs.values() if run.purpose is Purpose.EVAL]
    if not names:
        raise UnknownRun("no eval has been run here yet", "`manyhands eval SPEC --follow` runs one")
    if name is not None and name not in names:
        raise UnknownRun(f"there is no eval `{name[:100]}`", did_you_mean(name, names) or f"the newest is {names[-1]}")
    return progress_of(view.directory, view.book, name or names[-1], names, view.now)
