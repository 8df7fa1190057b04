"""Opening a run for a plan, and finding the one that there is."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from zlib import crc32

from manyhands.core.book import Book
from manyhands.core.events import Input, RunOpened, TasksSubmitted
from manyhands.core.lessons import lessons_of
from manyhands.core.state import Run
from manyhands.core.values.about import NO_WORDS, RunAbout
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import Task
from manyhands.sources.plans.plan_settings import PlanSettings

#: Tasks in one event: large enough to cost little each, small enough to stream.
TASKS_PER_EVENT = 1000


def newest_run(book: Book, source: str) -> Run | None:
    """The newest run of these plan files or of this backlog. It may have ended: what is done is not repeated."""
    runs = (run for run in reversed(book.runs.values()) if run.purpose is Purpose.PLAN)
    return next((run for run in runs if run.source == source), None)


_TOLD = {
    Purpose.EVAL: "eval {}",
    Purpose.TRIAL: "eval {}",
    Purpose.HAND: "manyhands add",
    Purpose.PROGRAM: "a Python program",
    Purpose.DEMO: "the demo",
    Purpose.SIMULATION: "a simulation",
}


def told_source(purpose: Purpose | None, source: str) -> str:
    """Where the tasks of a run come from, for people."""
    return _TOLD[purpose].format(source) if purpose in _TOLD else source


def new_name(book: Book, stem: str, taken: Collection[str] = ()) -> str:
    """`nightly-3`: the third run of that name in this journal. Names in `taken` are meant for runs not opened yet."""
    n = 1
    while f"{stem}-{n}" in book.runs or f"{stem}-{n}" in taken:
        n += 1
    return f"{stem}-{n}"


def opening(
    name: str,
    at: float,
    tasks: Iterable[Task],
    source: str = "",
    concurrency: int | None = None,
    fail_fast: bool = False,
    parents: dict[str, int] | None = None,
    purpose: Purpose = Purpose.PLAN,
    max_cost: float | None = None,
    about: RunAbout | None = None,
) -> Iterator[Input]:
    """The events that open a run; on disk together or not at all."""
    seed = crc32(f"{name}@{at}".encode())
    bounds = parents or {}
    yield RunOpened(
        at, name, seed, concurrency, fail_fast, source, bounds, purpose=purpose, max_cost=max_cost, about=about
    )
    yield from submitting(name, at, tasks)


def about_run(book: Book, name: str, settings: PlanSettings) -> RunAbout | None:
    """What the plan says of itself, with the lessons of the other runs if it asks for them. None: nothing is new."""
    others = [run for run in book.runs.values() if run.name != name and run.purpose is not Purpose.TRIAL]
    lessons = lessons_of(others) if settings.lessons else ()
    about = RunAbout(settings.title, settings.goal, settings.description, settings.epics, lessons)
    known = book.runs[name].about if name in book.runs else NO_WORDS
    return about if about != known else None


def submitting(run: str, at: float, tasks: Iterable[Task], origin: Origin = Origin.PLAN) -> Iterator[Input]:
    remaining = iter(tasks)
    while batch := tuple(islice(remaining, TASKS_PER_EVENT)):
        yield TasksSubmitted(at, run, batch, origin)


def attempt_directory(store: Path | str, run: str, task: str, number: int) -> str:
    """Where the output and other files of the task's nth attempt are."""
    return f"{store}/attempts/{run}/{task}.{number}"
