"""Why a task is in its state. The obstacles that decide are the ones that a person is told."""

from typing import assert_never

from manyhands.core.book import Book
from manyhands.core.obstacles import (
    could_ever_take,
    group_obstacle,
    host_obstacle,
    no_host_has_enough,
    resource_of,
    run_obstacle,
    what_meets,
)
from manyhands.core.people import why_it_waits
from manyhands.core.placement import choose
from manyhands.core.ready import Group
from manyhands.core.rules import holding_rule, left_of
from manyhands.core.scarce_hosts import needed_elsewhere
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.task import TaskState
from manyhands.quantities import how_many_wait

#: The order in which people ask: first the task itself, then where it could run, then bounds.
_FIRST = ("drained", "budget", "rule", "claim", "reservation", "host", "concurrency", "parent")


def explain(book: Book, record: Record, at: float) -> list[str]:
    """The reasons. The first is the one that must go away first."""
    run = book.runs[record.run]
    match record.state:
        case TaskState.READY:
            return _what_keeps(book, run, record, at)
        case TaskState.BLOCKED:
            return [_open_needs(run, record)]
        case TaskState.BACKOFF:
            left_s = max(0.0, record.until - at)
            return [f"{record.cause.why or 'the last attempt did not end well'}; again in {left_s:.1f} s"]
        case TaskState.RUNNING if record.question is not None:
            return [why_it_waits(record.question), _last_attempt(book, record, at)]
        case TaskState.RUNNING | TaskState.DONE:
            return [_last_attempt(book, record, at)]
        case TaskState.DEFERRED if record.held:
            rule = holding_rule(book.rules, run, record.task.kind)
            why = record.cause.why
            return [f"{why} (now {left_of(rule, run, record.task.kind)})" if rule else why]
        case TaskState.FAILED if record.history:
            return [f"{record.cause.why} (attempt {len(record.history or ())})"]
        case TaskState.DEFERRED | TaskState.NEEDS_PERSON | TaskState.FAILED | TaskState.CANCELLED | TaskState.SKIPPED:
            return [record.cause.why]
        case state:
            assert_never(state)


def can_never_run(book: Book, record: Record) -> bool:
    """Whether it waits for what will not come by itself: a host that can take it, or a task that nobody submitted."""
    run = book.runs[record.run]
    if record.state is TaskState.BLOCKED:
        return any(need not in run.records for need in record.task.needs)
    if record.state is not TaskState.READY or not book.hosts:
        return False
    return no_host_has_enough(book.ready.group_of(run, record))


def _last_attempt(book: Book, record: Record, at: float) -> str:
    if not record.history:
        return f"done and verified with its family {record.task.family}"
    tried = record.history[-1]
    running = book.running.get(tried.attempt)
    lease = running.lease if running is not None else None
    if tried.ended_at is None and lease is not None:
        said = f": {lease.progress}" if lease.progress else ""
        as_what = f"as attempt {len(record.history)} for {at - tried.started_at:.1f} s"
        return f"{lease.puller} works on it for {tried.host}, {as_what}{said}"
    if tried.ended_at is None:
        return f"runs on {tried.host} as attempt {len(record.history)} for {at - tried.started_at:.1f} s"
    return f"done on {tried.host} by attempt {len(record.history)} in {tried.ended_at - tried.started_at:.1f} s"


def _open_needs(run: Run, record: Record) -> str:
    open_needs: list[str] = []
    for need in record.task.needs:
        needed = run.records.get(need)
        if needed is None:
            open_needs.append(f"{need} (never submitted)")
        elif needed.state is not TaskState.DONE:
            open_needs.append(f"{need} ({needed.state})")
    shown = ", ".join(open_needs[:5])
    more = f" and {len(open_needs) - 5} more" if len(open_needs) > 5 else ""
    return f"needs {shown}{more}"


def _what_keeps(book: Book, run: Run, record: Record, at: float) -> list[str]:
    group = book.ready.group_of(run, record)
    never = [_never(group)] if book.hosts and no_host_has_enough(group) else []
    return [*never, *_what_keeps_now(book, run, group, record, at, bool(never))]


def _never(group: Group) -> str:
    """Why no host can ever take it."""
    hosts = group.pool.hosts
    if not hosts:
        return f"no host takes kind {group.key.kind} with {group.key.form}"
    wanted = [(name, amount, max(resource_of(host, name) for host in hosts)) for name, amount in group.key.resources]
    short = [each for each in wanted if each[1] > each[2]]
    if not short:
        return "no host has all that it asks for together: " + ", ".join(f"{name} {n:g}" for name, n, _ in wanted)
    name, amount, most = short[0]
    return f"no host has the {amount:g} {name} that it asks for; the most is {most:g}"


def _what_keeps_now(book: Book, run: Run, group: Group, record: Record, at: float, is_never: bool) -> list[str]:
    found = [] if is_never else [("host", reason) for reason in _host_reasons(group, book, at)]
    if (obstacle := run_obstacle(group.pool)) is not None:
        found.append((obstacle.what, obstacle.text))
    if (obstacle := group_obstacle(group, book.held, book.running, book.ready)) is not None:
        holder = obstacle.holder
        held = f"{what_meets(group.key.claims, holder.claims)} is held by {holder}" if holder else obstacle.text
        found.append((obstacle.what, held))
    found.sort(key=lambda reason: _FIRST.index(reason[0]))
    reasons = [text for _, text in found]
    if not reasons and group.head is not record:
        reasons.append(f"waits behind {group.head.task.id}, which is first in the same lane")
    return reasons or ([] if is_never else ["may start now"])


def ready_for(host: HostState, book: Book) -> int:
    """How many tasks that are ready could go there."""
    return sum(len(group.queue) for group in book.ready.groups.values() if host in group.pool.hosts)


def _next_try(host: HostState, at: float) -> str:
    if host.paused_until is None or host.is_closed:
        return ""  # the account itself says until when
    return f"; next try in {max(0.0, host.paused_until - at):.0f} s"


def _waiting_for(host: HostState, book: Book) -> str:
    waiting = ready_for(host, book)
    return how_many_wait(waiting, "task")


def _host_reasons(group: Group, book: Book, at: float) -> list[str]:
    """Why hosts keep it waiting: no host has room, or a busy host is worth the wait."""
    kind = group.key.kind
    if not book.hosts:
        return ["no dispatcher has run here yet"]
    reasons: list[str] = []
    free, busy = [], []
    for host in group.pool.hosts:
        reason = host_obstacle(host, group)
        if reason is None:
            start_at, why = host.limit.start_at(book.at, kind)
            reason = f"{host.name}: {why}" if start_at > book.at else None
        if reason is not None:
            reasons.append(f"{reason}{_next_try(host, at)}; {_waiting_for(host, book)}" if host.paused else reason)
        if reason is None:
            free.append(host)
        elif host.paused is None and host.barrier is None and could_ever_take(host, group):
            busy.append(host)
    if not free:
        return reasons
    others = needed_elsewhere(group.pool, free, [pool for pool in book.ready.pools.values() if pool.heap])
    choice = choose(free, busy, kind, book.at, {}, group.waits_since, len(group.queue) - 1, others)
    if choice.host is None:
        return [f"{free[0].name} has room, but a slot elsewhere is worth waiting {choice.worth_waiting_s:.1f} s for"]
    return []
