"""Agents that come by themselves: they wait for tasks, hold them on a lease, and hand their work in.

A lease is part of the attempt. It runs out unless it is renewed, and then the attempt is lost. An attempt that must
stop stays in flight until its agent lets go of it or the lease has run out, because only then are its claims free.
"""

from typing import assert_never

from msgspec.structs import replace

from manyhands.core import intake
from manyhands.core.book import Book
from manyhands.core.commands import HandIn, StopAttempt
from manyhands.core.events import LeaseRenewed, WorkHandedIn, WorkWanted
from manyhands.core.state import HostState, Run, Running
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.lease import PullLease, PullWish
from manyhands.core.values.provenance import Cause, CausedBy
from manyhands.core.wishes import is_pulled


def want(book: Book, event: WorkWanted) -> None:
    """An agent waits for a task. Asked again it keeps its place; with a moment that has passed it waits no longer."""
    host = book.hosts.get(event.host)
    if host is None or host.is_gone or not is_pulled(host):
        return
    wish = PullWish(event.puller, event.until, event.kinds, event.run, event.task)
    if event.until <= book.at:
        _drop(book, host, host.wishes.pop(event.puller, wish))
    elif held_by(host, event.puller) is None:
        host.wishes[event.puller] = wish
        book.set_timer(event.until)


def held_by(host: HostState, puller: str) -> Running | None:
    """The attempt that the agent has in its hands. It has one at a time, so asking again gives the same one."""
    for running in host.running.values():
        if is_in_hands(running) and running.lease is not None and running.lease.puller == puller:
            return running
    return None


def is_in_hands(running: Running) -> bool:
    """Is an agent at work on it? Then it needs no dispatcher until the agent says something or its lease runs out."""
    return running.lease is not None and running.lease.handed_in is None


def in_hands(book: Book, run: Run) -> int:
    if not run.in_flight:
        return 0
    return sum(1 for one in book.running.values() if one.record.run == run.name and is_in_hands(one))


def drop_old_wishes(book: Book, host: HostState) -> None:
    for wish in [wish for wish in host.wishes.values() if wish.until <= book.at]:
        del host.wishes[wish.puller]
        _drop(book, host, wish)


def _drop(book: Book, host: HostState, wish: PullWish) -> None:
    """Nobody else takes a task that was kept for one agent."""
    run = book.runs.get(wish.run)
    record = run.records.get(wish.task) if run is not None else None
    if run is not None and record is not None and held_by(host, wish.puller) is None:
        intake.cancel(book, run, record, Cause(CausedBy.ENGINE, f"{wish.puller} waits for it no longer"))


def valid_lease(book: Book, attempt: int, puller: str) -> PullLease | None:
    """The lease, if this agent may still say something about this attempt."""
    running = book.running.get(attempt)
    lease = None if running is None else running.lease
    if lease is None or lease.puller != puller or lease.handed_in is not None or lease.until <= book.at:
        return None
    return lease


def renew(book: Book, event: LeaseRenewed) -> None:
    """The agent is at work. An attempt that must stop is not renewed: the agent is told, and lets go."""
    lease = valid_lease(book, event.attempt, event.puller)
    if lease is None:
        return
    lease.progress = event.progress or lease.progress
    lease.tokens_in, lease.tokens_out = event.tokens_in or lease.tokens_in, event.tokens_out or lease.tokens_out
    lease.cost = lease.cost if event.cost is None else event.cost
    running = book.running[event.attempt]
    if running.stop_why is None:
        _prolong(book, running, lease)


def renew_all(book: Book) -> None:
    """A dispatcher has started. While there was none nobody could renew a lease, so each has its whole length again."""
    for running in book.running.values():
        lease = running.lease
        has_run_out = running.stop_why is EndingKind.LOST
        if lease is not None and lease.handed_in is None and not has_run_out:
            _prolong(book, running, lease)


def _prolong(book: Book, running: Running, lease: PullLease) -> None:
    lease.until = max(lease.until, book.at + (running.host.host.lease_s or 0.0))
    book.set_timer(lease.until, running.record)


def hand_in(book: Book, event: WorkHandedIn) -> None:
    """The agent says how it ended, or gives the task back. If its lease has run out, nothing changes."""
    lease = valid_lease(book, event.attempt, event.puller)
    if lease is None:
        return
    running = book.running[event.attempt]
    ending = event.ending
    match ending.kind:
        case EndingKind.PREEMPTED | EndingKind.CANCELLED:
            lease.handed_in = ending
            if running.stop_why is None:
                running.stop_why, running.stop_by = EndingKind.PREEMPTED, CausedBy.ATTEMPT
                running.stop_detail = ending.detail or f"given back by {event.puller}"
            book.commands.append(StopAttempt(event.attempt))
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED:
            lease.handed_in = ending
            book.commands.append(HandIn(event.attempt, ending))
        case EndingKind.TIMED_OUT | EndingKind.LOST:
            pass  # those are not for the agent to say
        case kind:
            assert_never(kind)


def end_overdue(book: Book) -> None:
    """Leases that have run out. The attempt is lost, or ends as it was told to before."""
    overdue, book.leases_due = book.leases_due, {}
    for running in overdue.values():
        lease = running.lease
        if lease is None or lease.handed_in is not None or lease.until > book.at or running.attempt not in book.running:
            continue
        if running.stop_why is None:
            why = f"its lease ran out: nothing was heard of {lease.puller} for {running.host.host.lease_s:g} s"
            intake.stop(book, running.record, EndingKind.LOST, Cause(CausedBy.ENGINE, why))
        book.commands.append(StopAttempt(running.attempt))


def with_usage(ending: Ending, lease: PullLease) -> Ending:
    """What the agent said that it used counts, unless the ending says more."""
    return replace(
        ending,
        tokens_in=ending.tokens_in or lease.tokens_in,
        tokens_out=ending.tokens_out or lease.tokens_out,
        cost=lease.cost if ending.cost is None else ending.cost,
    )
