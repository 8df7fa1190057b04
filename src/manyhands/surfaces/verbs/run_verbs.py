"""What has been run from a store, and what can be done to a run."""

from msgspec import Struct

from manyhands.core.events import CancelAsked, RunDrained, RunResumed
from manyhands.core.state import Run
from manyhands.core.values.task import TaskState
from manyhands.engine.observed_peaks import peaks
from manyhands.engine.run_opening import told_source
from manyhands.errors import Conflict
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.request_verbs import RequestKept, Wanted
from manyhands.surfaces.verbs.store_view import find_run


class RunRow(Struct):
    run: str
    source: str
    opened_at: float
    ended_at: float | None
    concurrency: int | None
    draining: bool
    counts: dict[str, int]
    total: int  # of its tasks
    peak: int


class RunList(Struct):
    runs: list[RunRow]
    total: int


def run_row(run: Run) -> RunRow:
    return RunRow(
        run=run.name,
        source=told_source(run.purpose, run.source),
        opened_at=run.opened_at,
        ended_at=run.ended_at,
        concurrency=run.concurrency,
        draining=run.draining,
        counts={str(state): n for state, n in run.counts.items()},
        total=len(run.records),
        peak=run.peak,
    )


def list_runs(view: BookView, limit: int | None = None, offset: int = 0) -> RunList:
    """The newest first."""
    runs = list(view.book.runs.values())[::-1]
    shown = runs[offset:] if limit is None else runs[offset : offset + limit]
    return RunList([run_row(run) for run in shown], len(runs))


class KindRow(Struct):
    kind: str
    tasks: int = 0
    done: int = 0
    attempts: int = 0
    mean_s: float | None = None  # of the attempts that ended


class NotDone(Struct):
    task: str
    state: str
    why: str


class RunReport(RunRow):
    kinds: list[KindRow]
    peaks: dict[str, int]  # host → the most attempts at once
    not_done: list[NotDone]  # tasks that failed, were cancelled or skipped
    not_done_total: int


def report_run(run: Run, listed_max: int | None = None) -> RunReport:
    """`not_done` lists at most so many tasks; its total is always complete."""
    row, not_done = run_row(run), not_done_rows(run)
    return RunReport(
        run=row.run,
        source=row.source,
        opened_at=row.opened_at,
        ended_at=row.ended_at,
        concurrency=row.concurrency,
        draining=row.draining,
        counts=row.counts,
        total=row.total,
        peak=row.peak,
        kinds=kind_rows(run),
        peaks=peaks(run.records.values()),
        not_done=not_done[:listed_max],
        not_done_total=len(not_done),
    )


def not_done_rows(run: Run) -> list[NotDone]:
    return [
        NotDone(record.task.id, str(record.state), record.cause.why)
        for record in run.records.values()
        if record.state in (TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED)
    ]


def kind_rows(run: Run) -> list[KindRow]:
    rows: dict[str, KindRow] = {}
    spent: dict[str, list[float]] = {}
    for record in run.records.values():
        kind = record.task.kind
        row = rows.setdefault(kind, KindRow(kind))
        row.tasks += 1
        row.done += record.state is TaskState.DONE
        for tried in record.history or ():
            row.attempts += 1
            if tried.ended_at is not None:
                spent.setdefault(kind, []).append(tried.ended_at - tried.started_at)
    for kind, seconds in spent.items():
        rows[kind].mean_s = round(sum(seconds) / len(seconds), 3)
    return list(rows.values())


def pause_run(view: BookView, name: str) -> Wanted[RequestKept]:
    run = _unfinished(view, name)
    done = f"run {run.name} starts nothing more; running attempts finish"
    return Wanted([RunDrained(view.now, run.name)], lambda heard: RequestKept(done, heard))


def resume_run(view: BookView, name: str) -> Wanted[RequestKept]:
    run = _unfinished(view, name)
    resumed = RunResumed(view.now, run.name, run.concurrency, run.fail_fast)
    return Wanted([resumed], lambda heard: RequestKept(f"run {run.name} continues", heard))


def cancel_run(view: BookView, name: str, why: str) -> Wanted[RequestKept]:
    run = _unfinished(view, name)
    cancelled = CancelAsked(view.now, run.name, why=why)
    return Wanted([cancelled], lambda heard: RequestKept(f"run {run.name} is being cancelled", heard))


def _unfinished(view: BookView, name: str) -> Run:
    run = find_run(view.book, name)
    if run.records and not run.unfinished:
        raise Conflict(f"run {run.name} has ended", "retry one of its tasks, and the run continues with that task")
    return run
