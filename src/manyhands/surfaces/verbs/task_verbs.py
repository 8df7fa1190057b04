"""What the tasks of a run are doing, and why."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from manyhands.core.claims import each_claim, is_resource, overlap
from manyhands.core.explain import can_never_run, explain
from manyhands.core.state import Record, Run
from manyhands.core.values.task import TERMINAL, Claims, TaskState, claims_of
from manyhands.errors import UsageError
from manyhands.readers.problems import did_you_mean
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.live_attempts import live_reasons
from manyhands.surfaces.verbs.store_view import command_for, may_continue

#: The order of a list: running tasks and trouble first, then waiting tasks, then finished ones.
ORDER = (
    TaskState.RUNNING,
    TaskState.NEEDS_PERSON,
    TaskState.FAILED,
    TaskState.BACKOFF,
    TaskState.READY,
    TaskState.BLOCKED,
    TaskState.DEFERRED,
    TaskState.SKIPPED,
    TaskState.CANCELLED,
    TaskState.DONE,
)
_PLACE = {state: place for place, state in enumerate(ORDER)}


class TaskFilter(Struct, frozen=True):
    """The tasks to list. A field that is empty lets every task through."""

    state: str | None = None
    kind: str | None = None
    host: str | None = None  # the host of its latest attempt
    text: str = ""  # in its id or title
    file: str = ""  # a file that it claims
    ids: frozenset[str] = frozenset()


class TaskRow(Struct):
    run: str
    task: str
    title: str
    kind: str
    state: str
    priority: int
    parent: str
    needs: tuple[str, ...]
    claims: list[str]
    host: str | None  # the host of its latest attempt
    attempt: int  # how many attempts were started
    attempts: int  # how many it may have in all; a retry, or one that did not count, gives it more
    since: float  # when it entered its state
    for_s: float | None  # how long it has waited or run; for a finished task, how long its last attempt took
    why: str
    never: bool  # it waits for what will not come by itself


class TaskList(Struct):
    tasks: list[TaskRow]
    total: int  # of the tasks that match; `tasks` may hold fewer
    counts: dict[str, int]  # of all tasks of these runs, whether they match or not
    note: str  # what to type if no dispatcher is running and tasks wait for one


def list_tasks(view: BookView, runs: Sequence[Run], wanted: TaskFilter, limit: int, offset: int = 0) -> TaskList:
    """The tasks of these runs that match: running ones first, then those in trouble."""
    found = matching(runs, wanted)
    now = view.now
    return TaskList(
        tasks=[task_row(view, record, now) for record in found[offset : offset + limit]],
        total=len(found),
        counts={str(state): sum(run.counts[state] for run in runs) for state in TaskState},
        note=next((note for run in runs if (note := idle_note(view, run))), ""),
    )


def matching(runs: Sequence[Run], wanted: TaskFilter) -> list[Record]:
    if wanted.state is not None and wanted.state not in list(TaskState):
        known = f"the states are {', '.join(TaskState)}"
        raise UsageError(f"there is no state `{wanted.state}`", did_you_mean(wanted.state, TaskState) or known)
    found = [record for run in runs for record in _matching(run, wanted)]
    found.sort(key=lambda record: _PLACE[record.state])
    return found


def _matching(run: Run, wanted: TaskFilter) -> Iterator[Record]:
    text = wanted.text.lower()
    for record in run.records.values():
        task = record.task
        if wanted.ids and task.id not in wanted.ids:
            continue
        if wanted.state is not None and record.state != wanted.state:
            continue
        if wanted.kind is not None and task.kind != wanted.kind:
            continue
        if wanted.host is not None and (not record.history or record.history[-1].host != wanted.host):
            continue
        if text and text not in task.id.lower() and text not in task.title.lower():
            continue
        if wanted.file and not _claims_file(claims_of(task), wanted.file):
            continue
        yield record


def _claims_file(claims: Claims, file: str) -> bool:
    return any(
        file in pattern or (not is_resource(pattern) and overlap(pattern, file)) for _, pattern in each_claim(claims)
    )


def task_row(view: BookView, record: Record, now: float) -> TaskRow:
    task, history = record.task, record.history or []
    is_plain = record.state in (TaskState.RUNNING, TaskState.DONE)
    return TaskRow(
        run=record.run,
        task=task.id,
        title=task.title,
        kind=task.kind,
        state=str(record.state),
        priority=task.priority,
        parent=task.parent,
        needs=task.needs,
        claims=claims_row(claims_of(task)),
        host=history[-1].host if history else None,
        attempt=len(history),
        attempts=_attempts_max(record),
        since=record.since,
        for_s=_how_long_s(record, now),
        why="" if is_plain else next(iter(explain(view.book, record, now)), ""),
        never=can_never_run(view.book, record),
    )


def _attempts_max(record: Record) -> int:
    is_over = record.state in TERMINAL
    left = 0 if is_over else record.task.attempts - record.tries - (record.state is TaskState.RUNNING)
    return max(record.task.attempts, len(record.history or ()) + left)


def claims_row(claims: Claims) -> list[str]:
    """What an attempt holds, for people: `write src/auth/**`."""
    rows = [f"write {pattern}" for pattern in claims.write]
    if claims.append or claims.read:
        rows += [f"append {pattern}" for pattern in claims.append]
        rows += [f"read {pattern}" for pattern in claims.read]
    return rows


def _how_long_s(record: Record, now: float) -> float | None:
    if record.state not in TERMINAL:
        return now - record.since
    last = record.history[-1] if record.history else None
    return last.ended_at - last.started_at if last and last.ended_at else None


def idle_note(view: BookView, run: Run) -> str:
    """The command that continues the run, if its tasks wait and no dispatcher is running; "" otherwise."""
    if not may_continue(run) or view.is_dispatching:
        return ""
    return f"no dispatcher is running; `{command_for(run)}` continues with {run.unfinished:,} unfinished"


class Explained(Struct):
    task: str
    run: str
    state: str
    why: list[str]


def explain_task(view: BookView, record: Record) -> Explained:
    """Why the task is in its state. The first reason is what it waits for now."""
    reasons = explain(view.book, record, view.now)
    if record.state not in TERMINAL and not view.is_dispatching:
        # Whatever else holds the task, nothing starts without a dispatcher. Only a person comes before it.
        unserved = f"no dispatcher is running; `{command_for(view.book.runs[record.run])}` continues"
        reasons = [*reasons, unserved] if record.state is TaskState.NEEDS_PERSON else [unserved, *reasons]
    else:
        reasons = [*reasons, *live_reasons(view, record)]
    return Explained(record.task.id, record.run, str(record.state), reasons)
