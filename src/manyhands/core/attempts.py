"""The life of an attempt in the book: how it starts, how it ends, and what its task becomes then."""

import math
from typing import assert_never

from msgspec.structs import replace

from manyhands.core import budgets, health, intake, learning, people, pulling, retry
from manyhands.core.book import Book
from manyhands.core.events import AttemptEnded, AttemptStarted
from manyhands.core.state import AttemptRecord, FamilyBarrier, HostState, Record, Running
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Prices
from manyhands.core.values.lease import PullLease
from manyhands.core.values.provenance import Cause, CausedBy, Origin
from manyhands.core.values.task import TaskState, claims_of
from manyhands.core.values.widths import Sample

#: Weight of the newest duration in what is usual; a handful of attempts is enough to follow a change.
USUAL_WEIGHT = 0.2
_DONE = EndingKind.DONE  # a name costs less to look up than a member of an enum


def begin(book: Book, event: AttemptStarted, record: Record) -> None:
    host = book.hosts[event.host]
    task = record.task
    host.advance(book.at)
    tried = AttemptRecord(event.attempt, event.host, book.at, queued_at=record.since)
    if record.history is None:
        record.history = [tried]
    else:
        record.history.append(tried)
    if event.attempt > book.last_attempt:
        book.last_attempt = event.attempt
    running = Running(event.attempt, record, host, claims_of(task), tried)
    if event.puller:
        tried.puller = event.puller
        running.lease = PullLease(event.puller, event.lease_until)
        host.wishes.pop(event.puller, None)
        book.set_timer(event.lease_until, record)
    occupy(book, running)
    host.limit.started(book.at, event.attempt, task.kind, len(host.running))
    book.to_learn[host.name] = host
    book.become(record, TaskState.RUNNING)
    if task.timeout is not None:
        book.set_timer(book.at + task.timeout, record)


def occupy(book: Book, running: Running) -> None:
    """Take everything that an attempt needs while it is in flight. `_let_go` gives it back."""
    host, record = running.host, running.record
    run, task = book.runs[record.run], record.task
    book.running[running.attempt] = running
    book.held.take(running.attempt, running.claims)
    host.running[running.attempt] = running
    book.note_room(host)
    if len(host.running) > host.peak:
        host.peak = len(host.running)
    lane = host.open_lane(task.kind)
    lane.in_flight += 1
    if lane.in_flight > lane.peak:
        lane.peak = lane.in_flight
    if task.resources:
        for name, amount in task.resources.items():
            host.used[name] = host.used.get(name, 0.0) + amount
    if barrier := record.barrier:
        if isinstance(barrier, FamilyBarrier):
            host.kept_by = barrier
        else:
            host.barrier = record
    run.in_flight += 1
    if run.in_flight > run.peak:
        run.peak = run.in_flight
    if task.parent in run.parent_bounds:
        run.children_in_flight[task.parent] = run.children_in_flight.get(task.parent, 0) + 1


def end(book: Book, event: AttemptEnded) -> None:
    running = book.running.pop(event.attempt, None)
    if running is None:
        return  # it was reported twice
    ending = _as_decided(event.ending, running)
    if running.lease is not None:
        ending = pulling.with_usage(ending, running.lease)
    if (prices := running.host.host.prices) is not None:
        ending = _priced(ending, prices)
    _let_go(book, running)
    running.tried.ended_at = book.at
    running.tried.ending = ending
    _learn(running, ending, book.at)
    _settle(book, running, ending)
    health.note(book, running, ending)
    # Only now, because the order of waiting groups depends on what is left to do, which has just changed.
    book.ready.wake(("attempt", running.attempt))
    run, parent = book.runs[running.record.run], running.record.task.parent
    if ending.cost or ending.tokens_in or ending.tokens_out:
        budgets.book_spending(book, running, ending)
    if parent in run.parent_bounds:
        book.ready.wake(("parent", (run.name, parent)))
    book.touch(run)


def _as_decided(ending: Ending, running: Running) -> Ending:
    """An attempt that we stopped has our reason as its ending, unless it was done first."""
    if ending.kind is _DONE:
        return ending
    if running.stop_why is None:
        return _as_told(ending)
    return Ending(
        running.stop_why,
        running.stop_detail or ending.detail,
        exit_code=ending.exit_code,
        tokens_in=ending.tokens_in,
        tokens_out=ending.tokens_out,
        cost=ending.cost,
        memory_bytes=ending.memory_bytes,
        tail=ending.tail,
        session=ending.session,
    )


def _as_told(ending: Ending) -> Ending:
    """The ending of an attempt that nobody stopped: if it says that it was stopped, it has failed."""
    match ending.kind:
        case EndingKind.CANCELLED | EndingKind.PREEMPTED:
            return Ending(EndingKind.FAILED, ending.detail or "it cancelled itself", tail=ending.tail)
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.TIMED_OUT | EndingKind.LOST:
            return ending
        case kind:
            assert_never(kind)


def _priced(ending: Ending, prices: Prices) -> Ending:
    """The ending with its cost at the current prices. A later change of prices does not change it."""
    if ending.cost is not None or not (ending.tokens_in or ending.tokens_out):
        return ending
    return replace(ending, cost=prices.cost(ending.tokens_in, ending.tokens_out))


def _let_go(book: Book, running: Running) -> None:
    """Everything the attempt held is free again."""
    host, record = running.host, running.record
    run, task = book.runs[record.run], record.task
    host.advance(book.at)
    del host.running[running.attempt]
    book.note_room(host)
    book.to_learn[host.name] = host
    host.lanes[task.kind].in_flight -= 1
    if task.resources:
        for name, amount in task.resources.items():
            host.used[name] -= amount
    if host.barrier is record:
        host.barrier = None
    run.in_flight -= 1
    book.held.release(running.attempt)
    if task.parent in run.parent_bounds:
        run.children_in_flight[task.parent] -= 1


def _learn(running: Running, ending: Ending, at: float) -> None:
    host, task = running.host, running.record.task
    kind = task.kind
    # Tokens that commands report do not measure the host: only some kinds report them, and others count seconds.
    tokens_in, tokens_out = (0, 0) if task.run else (ending.tokens_in, ending.tokens_out)
    took_s = at - running.started_at
    if ending.kind is _DONE and (running.record.guidance is None or not running.record.guidance.approved):
        # How long it takes only to land what is approved says nothing about the kind.
        lane = host.lanes[kind]
        lane.usual_s = took_s if lane.usual_s is None else lane.usual_s + USUAL_WEIGHT * (took_s - lane.usual_s)
    if ending.budget is not None:
        learning.read_budget(host, at, ending.budget)
    learning.observe(
        host,
        Sample(
            at,
            running.started_at,
            running.attempt,
            kind,
            _mean_in_flight(host, running, took_s),
            running.width_before,
            ending.kind,
            ending.rate_limited,
            ending.quota or ending.needs_person,  # neither is a sign of load
            ending.retry_after_s,
            tokens_in,
            tokens_out,
            ending.ttft_s,
            ending.memory_bytes,
            ending.needs_person,
            ending.unreachable,
        ),
    )


def _mean_in_flight(host: HostState, running: Running, took_s: float) -> float:
    if took_s <= 0.0:
        return len(host.running) + 1.0
    return (host.area - running.area_before) / took_s


def _settle(book: Book, running: Running, ending: Ending) -> None:
    """What the task becomes now that its attempt has ended like this."""
    record = running.record
    cut_short = False
    open_question = record.question
    if record.guidance is not None:
        people.keep_guidance(record, record.guidance, ending)
    match ending.kind:
        case EndingKind.DONE:
            record.setbacks = 0
            if ending.asks is not None:
                people.wait_for_person(book, record, ending.asks, people.why_it_waits(ending.asks))
                return
            book.become(record, TaskState.DONE)
            book.outbox.post(record)
            intake.release_dependents(book, record)
            return
        case EndingKind.CANCELLED:
            book.become(record, TaskState.CANCELLED, Cause(running.stop_by, ending.detail))
            intake.skip_dependents(book, record)
            return
        case EndingKind.OVERLOADED:
            record.setbacks += not running.host.on_trial  # the task is not to blame for a host that accepts nothing
        case EndingKind.FAILED if ending.needs_person and not (record.task.family or record.is_step):
            why = f"needs a person: {ending.detail or 'it gave no reason'}"
            people.wait_for_person(book, record, ending.asks, people.why_it_waits(ending.asks) if ending.asks else why)
            return
        case EndingKind.FAILED | EndingKind.TIMED_OUT:
            record.tries += 1
            record.setbacks = 0
        case EndingKind.LOST | EndingKind.PREEMPTED if open_question is not None and not record.task.once:
            # The next attempt would ask the same, so it is started when the answer is known.
            people.wait_for_person(book, record, open_question, people.why_it_waits(open_question))
            return
        case EndingKind.LOST | EndingKind.PREEMPTED if record.origin is Origin.RESERVED:
            # Nothing was to be done, so nothing has failed: the files are free again.
            book.become(record, TaskState.CANCELLED, Cause(CausedBy.ATTEMPT, ending.detail))
            return
        case EndingKind.LOST | EndingKind.PREEMPTED:
            cut_short = record.task.once
        case kind:
            assert_never(kind)
    if cut_short or retry.is_final(ending, record.tries, record.setbacks, record.task.attempts):
        _fail(book, record, ending)
    elif (over := budgets.over_task_budget(book, record, running.host)) is not None:
        book.become(record, TaskState.DEFERRED, Cause(CausedBy.BUDGET, str(over)))
    else:
        book.become(record, TaskState.BACKOFF, Cause(CausedBy.ATTEMPT, ending.detail))
        record.until = math.inf  # decided at the end of this turn
        book.to_retry[record.number] = record


def _fail(book: Book, record: Record, ending: Ending) -> None:
    run = book.runs[record.run]
    book.become(record, TaskState.FAILED, Cause(CausedBy.ATTEMPT, ending.detail or str(ending.kind)))
    book.outbox.post(record)
    intake.skip_dependents(book, record)
    if run.fail_fast and not record.is_step:  # a family is first reverted, then its members fail
        intake.cancel_waiting(book, run, Cause(CausedBy.RUN, f"fail_fast: {record.task.id} failed"))
