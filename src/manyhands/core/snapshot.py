"""Saves the whole book as bytes and loads it, so that a long journal need not be replayed from its start."""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.core import attempts, intake
from manyhands.core.clutch.difficulty import Difficulty
from manyhands.core.learning import Memory, is_adaptive
from manyhands.core.outbox import Outbox
from manyhands.core.scheduler import Scheduler
from manyhands.core.state import HostState, KeptHost, KeptRun, Record, Run, Running
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Family, ProcessHandle, Rule
from manyhands.core.values.lease import PullLease
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.spending_limit import SpendingLedger, SpendingLimit
from manyhands.core.values.task import TaskState, claims_of

#: A snapshot of another version is ignored, because the journal alone is always enough.
VERSION = 2


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
    stop_by: CausedBy = CausedBy.NOBODY
    lease: PullLease | None = None


class RunPart(Struct):
    run: KeptRun
    records: list[Record]  # in the order they came, without dependents, which follow from the needs


class Snapshot(Struct):
    version: int
    at: float
    last_attempt: int
    last_number: int
    rules: tuple[Rule, ...]
    hosts: list[KeptHost]
    memory: Memory
    runs: list[RunPart]
    running: list[RunningPart]
    families: tuple[Family, ...] = ()
    outbox: Outbox | None = None
    budgets: tuple[SpendingLimit, ...] = ()
    ledger: SpendingLedger | None = None
    schedules: dict[str, tuple[str, float]] = {}


def save(scheduler: Scheduler) -> bytes:
    book = scheduler.book
    whole = Snapshot(
        VERSION,
        book.at,
        book.last_attempt,
        book.last_number,
        book.rules,
        [KeptHost(*_values(KeptHost, host)) for host in book.hosts.values()],
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
                one.stop_by,
                one.lease,
            )
            for one in book.running.values()
        ],
        tuple(book.families.values()),
        book.outbox,
        book.budgets,
        book.ledger,
        book.schedules,
    )
    return msgspec.msgpack.encode(whole)


def load(scheduler: Scheduler, data: bytes) -> bool:
    """Fill an empty scheduler, to be followed by `replay` of what came after.

    Returns False and changes nothing if the snapshot is damaged or of another version.
    """
    try:
        whole = msgspec.msgpack.decode(data, type=Snapshot)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if whole.version != VERSION:
        return False
    book = scheduler.book
    book.at, book.rules, book.memory = whole.at, whole.rules, whole.memory
    book.families = {family.name: family for family in whole.families}
    if whole.outbox is not None:
        book.outbox = whole.outbox
    book.budgets = whole.budgets
    if whole.ledger is not None:
        book.ledger = whole.ledger
    book.schedules = whole.schedules
    book.last_attempt, book.last_number = whole.last_attempt, whole.last_number
    for kept in whole.hosts:
        host = book.hosts[kept.host.name] = HostState(*_values(KeptHost, kept))
        for lane in host.lanes.values():
            lane.in_flight = 0  # counted again from the running attempts
        if is_adaptive(host.host):
            host.difficulty = book.memory.difficulties.setdefault(host.name, Difficulty())
        if host.paused_until is not None:
            book.set_timer(host.paused_until)
        for wish in host.wishes.values():
            book.set_timer(wish.until)
    book.look_at_hosts()
    book.replaying = True
    for run_part in whole.runs:
        _restore_run(scheduler, run_part)
    for part in whole.running:
        _restore_running(scheduler, part)
    book.replaying = False
    return True


def _values(kind: type[Struct], state: Struct) -> list[Any]:
    """The values of the fields that `kind` declares. `state` is of that kind or of one that adds fields to it."""
    return [getattr(state, name) for name in kind.__struct_fields__]


def _run_part(run: Run) -> RunPart:
    return RunPart(KeptRun(*_values(KeptRun, run)), [_without_dependents(record) for record in run.records.values()])


def _without_dependents(record: Record) -> Record:
    if record.dependents is None:
        return record
    return msgspec.structs.replace(record, dependents=None)


def _restore_run(scheduler: Scheduler, part: RunPart) -> None:
    book = scheduler.book
    run = book.runs[part.run.name] = Run(*_values(KeptRun, part.run))
    for record in part.records:
        if record.state is TaskState.DEFERRED and record.cause.by is CausedBy.ATTEMPT:
            record.state = TaskState.NEEDS_PERSON  # as older versions saved it
        book.enter(record)
    for record in part.records:
        for need in record.task.needs:
            needed = run.records.get(need)
            if needed is None:
                run.awaited.setdefault(need, []).append(record)
            else:
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
    running.process, running.lease = part.process, part.lease
    running.stop_why, running.stop_detail, running.stop_by = part.stop_why, part.stop_detail, part.stop_by
    running.width_before, running.area_before = part.width_before, part.area_before
    attempts.occupy(book, running)
    if record.task.timeout is not None:
        book.set_timer(running.started_at + tried.waited_s + record.task.timeout, record)
    if running.lease is not None:
        book.set_timer(running.lease.until, record)
