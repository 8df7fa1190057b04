"""The whole book as bytes and back, so that reopening a long journal need not replay all of it."""

from typing import cast

import msgspec
from msgspec import Struct

from manyhands.core import attempts, intake
from manyhands.core.clutch.difficulty import Difficulty
from manyhands.core.clutch.limit_choice import AnyLimit
from manyhands.core.learning import Memory, is_adaptive
from manyhands.core.outbox import Outbox
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import FamilyState, HostState, Record, Run, Running, RunNote
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Family, Host, ProcessHandle, Rule
from manyhands.core.values.task import TaskState, claims_of

#: A snapshot of another version is not read: the journal itself is always enough.
VERSION = 1


class RunningPart(Struct, omit_defaults=True):
    attempt: int
    run: str
    task: str
    host: str
    width_before: int
    area_before: float
    process: ProcessHandle | None = None
    stop_why: EndingKind | None = None
    stop_detail: str = ""


class RunPart(Struct, omit_defaults=True):
    name: str
    seed: int
    source: str
    parents: dict[str, int]
    opened_at: float
    records: list[Record]  # in the order they came, dependents left out: needs say it all
    weight: float = 1.0
    concurrency: int | None = None
    fail_fast: bool = False
    draining: bool = False
    ended_at: float | None = None
    peak: int = 0
    families: dict[str, FamilyState] = {}
    notes: list[RunNote] = []


class HostPart(Struct, omit_defaults=True):
    host: Host
    limit: AnyLimit
    width: int
    reason: str
    lanes: dict[str, tuple[int, float | None, int | None, str]]  # kind → (peak, usual seconds, width, why)
    pinned: int | None = None
    peak: int = 0
    paused: str | None = None
    paused_until: float | None = None
    refused: int = 0
    trials: int = 0
    on_trial: bool = False
    area: float = 0.0
    area_at: float = 0.0
    kept_by: str = ""
    workers: int | None = None
    workers_why: str = ""


class Snapshot(Struct):
    version: int
    at: float
    last_attempt: int
    last_number: int
    rules: tuple[Rule, ...]
    hosts: list[HostPart]
    memory: Memory
    runs: list[RunPart]
    running: list[RunningPart]
    families: tuple[Family, ...] = ()
    outbox: Outbox | None = None


def save(scheduler: Scheduler) -> bytes:
    book = scheduler.book
    whole = Snapshot(
        VERSION,
        book.at,
        book.last_attempt,
        book.last_number,
        book.rules,
        [_host_part(host) for host in book.hosts.values()],
        book.memory,
        [_run_part(run) for run in book.runs.values()],
        [
            RunningPart(
                one.attempt,
                one.record.run,
                one.record.task.id,
                one.host.name,
                one.width_before,
                one.area_before,
                one.process,
                one.stop_why,
                one.stop_detail,
            )
            for one in book.running.values()
        ],
        tuple(book.families.values()),
        book.outbox,
    )
    return msgspec.msgpack.encode(whole)


def load(scheduler: Scheduler, data: bytes) -> bool:
    """Fill an empty scheduler, to be followed by `replay` of what came after.

    False, and nothing done, if the snapshot is damaged or another version's.
    """
    try:
        whole = msgspec.msgpack.decode(data, type=Snapshot)
    except msgspec.DecodeError:
        return False
    if whole.version != VERSION:
        return False
    book = scheduler.book
    book.at, book.rules, book.memory = whole.at, whole.rules, whole.memory
    book.families = {family.name: family for family in whole.families}
    if whole.outbox is not None:
        book.outbox = whole.outbox
    book.last_attempt, book.last_number = whole.last_attempt, whole.last_number
    for host_part in whole.hosts:
        host = book.hosts[host_part.host.name] = _host_from(host_part)
        host.configured_at = whole.at
        if is_adaptive(host.host):
            host.difficulty = book.memory.difficulties.setdefault(host.name, Difficulty())
        if host_part.paused_until is not None:
            book.set_timer(host_part.paused_until)
    book.look_at_hosts()
    book.replaying = True
    for run_part in whole.runs:
        _restore_run(scheduler, run_part)
    for part in whole.running:
        _restore_running(scheduler, part)
    book.replaying = False
    return True


def _host_part(host: HostState) -> HostPart:
    return HostPart(
        host.host,
        # Why a start was put off is noted by whoever asks, and asking leaves no trace in the journal either.
        msgspec.structs.replace(cast(AnyLimit, host.limit), start_reason=""),
        host.width,
        host.reason,
        # Only those that ran something: a lane that was just looked at leaves no trace in the journal.
        {
            kind: (lane.peak, lane.usual_s, lane.width, lane.why)
            for kind, lane in sorted(host.lanes.items())
            if lane.peak
        },
        host.pinned,
        host.peak,
        host.paused,
        host.paused_until,
        host.refused,
        host.trials,
        host.on_trial,
        host.area,
        host.area_at,
        host.kept_by,
        host.workers,
        host.workers_why,
    )


def _host_from(part: HostPart) -> HostState:
    host = HostState(part.host, part.limit)
    host.width, host.reason, host.pinned, host.peak = part.width, part.reason, part.pinned, part.peak
    host.paused, host.paused_until = part.paused, part.paused_until
    host.refused, host.trials, host.on_trial = part.refused, part.trials, part.on_trial
    host.area, host.area_at, host.kept_by = part.area, part.area_at, part.kept_by
    host.workers, host.workers_why = part.workers, part.workers_why
    for kind, (peak, usual_s, width, why) in part.lanes.items():
        lane = host.lane(kind)
        lane.peak, lane.usual_s, lane.width, lane.why = peak, usual_s, width, why
    return host


def _run_part(run: Run) -> RunPart:
    return RunPart(
        run.name,
        run.seed,
        run.source,
        run.parent_bounds,
        run.opened_at,
        [_without_dependents(record) for record in run.records.values()],
        run.weight,
        run.concurrency,
        run.fail_fast,
        run.draining,
        run.ended_at,
        run.peak,
        run.families,
        run.notes,
    )


def _without_dependents(record: Record) -> Record:
    if record.dependents is None:
        return record
    return msgspec.structs.replace(record, dependents=None)


def _restore_run(scheduler: Scheduler, part: RunPart) -> None:
    book = scheduler.book
    run = book.runs[part.name] = Run(part.name, part.seed, part.source, part.parents, part.opened_at)
    run.concurrency, run.fail_fast, run.draining = part.concurrency, part.fail_fast, part.draining
    run.weight = part.weight
    run.ended_at, run.peak, run.bounded_at = part.ended_at, part.peak, book.at
    for record in part.records:
        book.enter(record)
    run.families |= part.families
    run.notes = part.notes
    for record in part.records:
        for need in record.task.needs:
            needed = run.records.get(need)
            if needed is None:
                run.awaited.setdefault(need, []).append(record)
            elif needed.state is not TaskState.DONE:
                intake.hang_on(needed, record)
        if record.state is TaskState.BACKOFF:
            book.set_timer(record.until, record)


def _restore_running(scheduler: Scheduler, part: RunningPart) -> None:
    book = scheduler.book
    run = book.runs[part.run]
    record = run.records[part.task]
    host = book.hosts[part.host]
    assert record.history
    tried = record.history[-1]
    running = Running(part.attempt, record, host, claims_of(record.task), tried)
    running.process = part.process
    running.stop_why, running.stop_detail = part.stop_why, part.stop_detail
    running.width_before, running.area_before = part.width_before, part.area_before
    attempts.occupy(book, running)
    if record.task.timeout is not None:
        book.set_timer(running.started_at + record.task.timeout, record)
