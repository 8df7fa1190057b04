"""What agents that come by themselves are told: the task they hold, and what became of their work."""

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.lessons import with_lessons
from manyhands.core.placement import matches
from manyhands.core.state import AttemptRecord, HostState, Record, Running
from manyhands.core.values.about import RunAbout
from manyhands.core.values.ending import Ending
from manyhands.core.values.task import TERMINAL, claims_of
from manyhands.surfaces.verbs.task_verbs import claims_row


class HeldWork(Struct, frozen=True):
    """A task in the hands of an agent. What it may touch is in `claims`."""

    token: int  # names the lease in every later call; later leases have larger ones
    until: float  # the lease runs out then, unless it is renewed
    lease_s: float
    run: str
    task: str
    attempt: int  # of this task, counted from 1
    kind: str
    title: str
    prompt: str
    command: tuple[str, ...]  # the `run` of the task
    check: tuple[str, ...]  # runs when the work is handed in, and must pass
    cwd: str
    claims: list[str]
    last: str  # how the attempt before ended


class NextWork(Struct, frozen=True):
    work: HeldWork | None
    left: int  # tasks of this host that are not finished, with those that others hold
    why: str  # why there is none


class LeaseReport(Struct, frozen=True):
    token: int
    until: float
    stop: str  # not empty: stop working and give the task back; this is why


class WorkTaken(Struct, frozen=True):
    token: int
    run: str
    task: str
    ending: str | None  # as recorded; none: its check is still running
    state: str  # of the task
    done: str


def held_work(running: Running, about: RunAbout) -> HeldWork:
    record, lease = running.record, running.lease
    assert lease is not None
    task, history = with_lessons(record.task, about), record.history or []
    told = history[record.told_from : -1]
    last = told[-1].ending if told else None
    return HeldWork(
        running.attempt,
        lease.until,
        running.host.host.lease_s or 0.0,
        record.run,
        task.id,
        len(history),
        task.kind,
        task.title,
        task.prompt,
        task.run,
        task.check,
        task.cwd,
        claims_row(claims_of(task)),
        "" if last is None else _ended_before(last),
    )


def _ended_before(last: Ending) -> str:
    tail = f"\n{last.tail}" if last.tail else ""
    return f"{last.kind}: {last.detail}{tail}" if last.detail else f"{last.kind}{tail}"


def taken(record: Record, tried: AttemptRecord) -> WorkTaken:
    task, run = record.task.id, record.run
    if tried.ending is None:
        check = " and its check is running" if record.task.check else ""
        return WorkTaken(tried.attempt, run, task, None, str(record.state), f"the work on {task} is taken{check}")
    state = f"{record.state}" if record.state in TERMINAL else f"{record.state}, so it will be tried again"
    done = f"attempt recorded as {tried.ending.kind}; task {task} of run {run} is {state}"
    return WorkTaken(tried.attempt, run, task, str(tried.ending.kind), str(record.state), done)


def unfinished_for(host: HostState, book: Book) -> int:
    """How many tasks could still come to this host, by their kinds."""
    runs = [run for run in book.runs.values() if not run.draining]
    return sum(n for run in runs for kind, n in run.left_of_kind.items() if matches(kind, host.host.kinds))
