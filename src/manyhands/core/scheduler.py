"""The scheduler: events in, commands out. It alone changes the book, and it has no clock.

In a live session, `handle` takes what happened and decides what follows. It returns the decisions, which are journalled
with their causes, and the commands, which are carried out when both are on disk. From a journal, `replay` takes inputs
and decisions as they were, and decides nothing.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from manyhands.core import budgets, events, families, intake, learning, pulling, quiet, retry, rules
from manyhands.core.book import Book
from manyhands.core.clutch.limit_choice import limit_for
from manyhands.core.commands import AnyCommand, RunEnded, WakeAt
from manyhands.core.event_effects import EFFECTS
from manyhands.core.starting import start_what_may
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Host
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.provenance import Cause, CausedBy
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.core.values.widths import Limit


class TurnResult(Struct, frozen=True):
    """What one round of events led to."""

    decisions: list[events.Decision]
    commands: list[AnyCommand]


class Scheduler:
    def __init__(
        self, limit_for: Callable[[Host, HostMemory | None], Limit] = limit_for, memory: learning.Memory | None = None
    ) -> None:
        """`memory` is what earlier sessions have learned. A journal brings its own."""
        self.book = Book(limit_for)
        if memory is not None:
            self.book.memory = memory

    def handle(self, happened: Iterable[events.Input]) -> TurnResult:
        """Apply what happened and decide what follows. A task that is cancelled in the same batch never starts."""
        book = self.book
        book.decisions, book.commands = [], []
        for event in joined(happened):
            self._pass_time(event.at)
            EFFECTS[type(event)](book, event)
        if book.leases_due:
            pulling.end_overdue(book)
        self._decide_retries()
        self._move_widths()
        families.review(book)
        rules.review(book)
        budgets.review(book)
        quiet.review(book)
        start_what_may(book)
        self._report_settled()
        timer = book.next_timer()
        if timer is not None and timer != book.wake_at:
            book.wake_at = timer
            book.commands.append(WakeAt(timer))
        return TurnResult(book.decisions, book.commands)

    def replay(self, recorded: Iterable[events.AnyEvent]) -> None:
        """Bring the book to where the journal ends. Attempts that were in flight then are in flight in the book."""
        self.replay_each(joined(recorded))

    def replay_each(self, recorded: Iterable[events.AnyEvent]) -> None:
        """For callers that inspect the book between (`joined`) events: each is applied before the next is read."""
        book = self.book
        book.replaying = True
        self._free_held()
        for event in recorded:
            self._pass_time(event.at)
            EFFECTS[type(event)](book, event)
        book.spending_changed = True
        budgets.review(book)
        quiet.review(book)
        book.replaying = False
        book.commands, book.unsettled, book.families_to_review = [], {}, {}
        book.leases_due = {}
        self.queue_ready()

    def _free_held(self) -> None:
        """The journal does not say which tasks a rule holds. All count as ready until the rules are reviewed."""
        for run in self.book.runs.values():
            for record in run.records.values():
                if record.held:
                    self.book.free(record)

    def queue_ready(self) -> None:
        """Put all ready tasks in order, because a replay keeps no order."""
        self.book.ready.clear()
        for run in self.book.runs.values():
            for record in run.records.values():
                if record.state not in TERMINAL:
                    self.book.ready.want(record, +1)
        for run in self.book.runs.values():
            for record in run.records.values():
                if record.state is TaskState.READY or record.held:
                    self.book.ready.add(run, record)
        self.book.rules_to_review = True
        rules.review(self.book)

    def _pass_time(self, at: float) -> None:
        book = self.book
        if at > book.at:
            book.at = at
        if (timer := book.next_timer()) is None or timer > book.at:
            return
        book.wake_at = book.look_at = None
        for record in book.due(book.at):
            timeout_s = record.task.timeout
            if record.state is TaskState.BACKOFF and record.until <= book.at:
                intake.queue_again(book, record)
                record.since = record.until  # even if it was noticed later
            elif record.state is TaskState.RUNNING:
                assert record.history
                running = book.running[record.history[-1].attempt]
                if running.lease is not None:
                    book.leases_due[running.attempt] = running
                if timeout_s is None:
                    continue
                tried = record.history[-1]  # the timer may be that of an earlier attempt
                overdue = record.question is None and tried.started_at + tried.waited_s + timeout_s <= book.at
                if overdue:
                    cause = Cause(CausedBy.ENGINE, f"took longer than {timeout_s:g} s")
                    intake.stop(book, record, EndingKind.TIMED_OUT, cause)
        for host in book.hosts.values():
            if host.paused_until is not None and host.paused_until <= book.at:
                host.resume()
            if host.wishes:
                pulling.drop_old_wishes(book, host)

    # Decisions

    def _decide_retries(self) -> None:
        book = self.book
        for record in book.to_retry.values():
            if record.state is not TaskState.BACKOFF:
                continue  # cancelled or put off in the same batch
            ending = record.last_ending
            assert ending is not None
            seed = book.runs[record.run].seed
            wait_s = retry.delay_s(ending, record.tries, record.setbacks, seed, record.task.id)
            decision = events.RetryDecided(book.at, record.run, record.task.id, book.at + wait_s)
            EFFECTS[type(decision)](book, decision)
            book.decisions.append(decision)
        book.to_retry = {}

    def _move_widths(self) -> None:
        book = self.book
        hosts, book.to_learn = book.to_learn, {}
        for host in hosts.values():
            for move in learning.moves(host, book.at):
                EFFECTS[type(move)](book, move)
                book.decisions.append(move)

    def _report_settled(self) -> None:
        """Report once that a run has come to rest: all tasks ended, or nothing more can happen without a person."""
        book = self.book
        for run in book.unsettled.values():
            if run.draining:  # agents continue without a dispatcher
                busy = run.in_flight > pulling.in_hands(book, run)
            else:
                waits = run.counts[TaskState.READY] or run.counts[TaskState.BACKOFF]
                busy = bool(run.in_flight or (waits and run.budget_hold is None))
            if busy or run.settled:
                continue
            run.settled = True
            book.ready.forget_idle_pools(run)
            book.commands.append(RunEnded(run.name))
        book.unsettled = {name: run for name, run in book.unsettled.items() if not run.settled}


def joined(happened: Iterable[events.AnyEvent]) -> Iterator[events.AnyEvent]:
    """A long plan comes in many events. Joined into one, they let the order see all chains and contended claims."""
    parts: list[events.TasksSubmitted] = []
    for event in happened:
        submitted = event if isinstance(event, events.TasksSubmitted) else None
        if parts and (submitted is None or _whose(submitted) != _whose(parts[0])):
            yield _as_one(parts)
            parts = []
        if submitted is None:
            yield event
        else:
            parts.append(submitted)
    if parts:
        yield _as_one(parts)


def _whose(submitted: events.TasksSubmitted) -> tuple[object, ...]:
    return submitted.run, submitted.at, submitted.origin


def _as_one(parts: list[events.TasksSubmitted]) -> events.TasksSubmitted:
    first = parts[0]
    if len(parts) == 1:
        return first
    return events.TasksSubmitted(
        first.at, first.run, tuple(task for part in parts for task in part.tasks), first.origin
    )
