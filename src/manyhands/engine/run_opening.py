"""Opening a run for a plan, or taking up the one that was left unfinished."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from zlib import crc32

from manyhands.core.book import Book
from manyhands.core.events import Input, RunOpened, RunResumed, TasksSubmitted
from manyhands.core.state import Run
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import Task
from manyhands.errors import Conflict

#: Tasks in one event: large enough to cost little each, small enough to stream.
TASKS_PER_EVENT = 1000


def unfinished_run(book: Book, source: str) -> Run | None:
    """The newest run of these plan files, if it has not come to its end."""
    for run in reversed(book.runs.values()):
        if run.purpose is Purpose.PLAN and run.source == source:
            return run if run.ended_at is None else None
    return None


_TOLD = {
    Purpose.EVAL: "eval {}",
    Purpose.TRIAL: "eval {}",
    Purpose.HAND: "manyhands add",
    Purpose.DEMO: "the demo",
    Purpose.SIMULATION: "a simulation",
}


def told_source(purpose: Purpose | None, source: str) -> str:
    """Where the tasks of a run come from, for people."""
    return _TOLD[purpose].format(source) if purpose in _TOLD else source


def new_name(book: Book, stem: str) -> str:
    """`nightly-3`: the third run of that name in this journal."""
    n = 1
    while f"{stem}-{n}" in book.runs:
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
) -> Iterator[Input]:
    """The events that open a run; on disk together or not at all."""
    seed = crc32(f"{name}@{at}".encode())
    yield RunOpened(at, name, seed, concurrency, fail_fast, source, parents or {}, purpose=purpose, max_cost=max_cost)
    yield from submitting(name, at, tasks)


def resuming(
    run: Run,
    at: float,
    tasks: Iterable[Task],
    concurrency: int | None,
    fail_fast: bool,
    max_cost: float | None = None,
) -> Iterator[Input]:
    """The events that take a run up again. Tasks the plan has gained are added; none may have changed."""
    new: list[Task] = []
    for task in tasks:
        known = run.records.get(task.id)
        if known is None:
            new.append(task)
        elif known.task != task:
            raise Conflict(
                f"task `{task.id}` has changed since run {run.name} was left unfinished",
                "`--fresh` starts a new run of the plan as it is now",
            )
    yield RunResumed(at, run.name, concurrency, fail_fast, max_cost=max_cost)
    yield from submitting(run.name, at, new)


def submitting(run: str, at: float, tasks: Iterable[Task], origin: Origin = Origin.PLAN) -> Iterator[Input]:
    remaining = iter(tasks)
    while batch := tuple(islice(remaining, TASKS_PER_EVENT)):
        yield TasksSubmitted(at, run, batch, origin)


def attempt_directory(store: Path | str, run: str, task: str, number: int) -> str:
    """Where the output and other files of the task's nth attempt are."""
    return f"{store}/attempts/{run}/{task}.{number}"
