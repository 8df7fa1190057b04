"""The scheduler: events in, commands out. It alone changes the book, and it has no clock.

In a live session, `handle` takes what happened and decides what follows. It returns the decisions, which are journalled
with their causes, and the commands, which are carried out when both are on disk. From a journal, `replay` takes inputs
and decisions as they were, and decides nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from manyhands.core import attempts, budgets, events, families, intake, learning, people, pulling, quiet, retry, rules
from manyhands.core.book import Book
from manyhands.core.clutch.limit_choice import limit_for
from manyhands.core.commands import AnyCommand, ReleaseAttempt, RunEnded, WakeAt
from manyhands.core.starting import start_what_may
from manyhands.core.state import Run, RunNote
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Host
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.provenance import Cause, CausedBy, Origin, Purpose
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
        self._wake_at: float | None = None
        self._apply: dict[type[Any], Callable[[Any], None]] = {
            events.HostsConfigured: self._on_hosts,
            events.RunOpened: self._on_run_opened,
            events.RunResumed: self._on_run_resumed,
            events.RunDrained: self._on_run_drained,
            events.RunStopped: self._on_run_stopped,
            events.RunPutAway: lambda event: self.book.put_away(event.run),
            events.RunNoted: self._on_run_noted,
            events.TasksSubmitted: self._on_submitted,
            events.TaskEdited: self._on_edited,
            events.AttemptSpawned: self._on_spawned,
            events.AttemptShowed: self._on_showed,
            events.AttemptEnded: lambda event: attempts.end(self.book, event),
            events.WorkWanted: lambda event: pulling.want(self.book, event),
            events.LeaseRenewed: lambda event: pulling.renew(self.book, event),
            events.WorkHandedIn: lambda event: pulling.hand_in(self.book, event),
            events.CancelAsked: self._on_cancel,
            events.RetryAsked: self._on_retry,
            events.DeferAsked: self._on_defer,
            events.ResumeAsked: self._on_resume,
            events.QuestionAsked: lambda event: people.ask(self.book, event),
            events.QuestionAnswered: self._on_answered,
            events.WorkJudged: self._on_judged,
            events.ChangeAsked: self._on_change,
            events.HostPaused: self._on_paused,
            events.HostResumed: self._on_unpaused,
            events.WidthSet: self._on_width_set,
            events.HostRead: self._on_read,
            events.WorkersMoved: self._on_workers_moved,
            events.MemoryForgotten: self._on_forgotten,
            events.BudgetRaised: lambda event: budgets.raise_budget(self.book, event),
            events.Delivered: lambda event: self.book.outbox.delivered(event.delivery),
            events.DeliveryGivenUp: lambda event: self.book.outbox.given_up(event.delivery, event.error, event.tries),
            events.ResendAsked: lambda event: self.book.outbox.resend(event.delivery, event.app),
            events.Woke: self._on_woke,
            events.AttemptStarted: self._on_started,
            events.StopDecided: self._on_stop,
            events.RetryDecided: self._on_backoff,
            events.WidthMoved: self._on_width_moved,
            events.FamilyMoved: lambda event: families.move(self.book, event),
            events.BudgetReached: lambda event: budgets.note_reached(self.book, event),
        }

    def handle(self, happened: Iterable[events.Input]) -> TurnResult:
        """Apply what happened and decide what follows. A task that is cancelled in the same batch never starts."""
        book = self.book
        book.decisions, book.commands = [], []
        for event in joined(happened):
            self._pass_time(event.at)
            self._apply[type(event)](event)
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
        if timer is not None and timer != self._wake_at:
            self._wake_at = timer
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
            self._apply[type(event)](event)
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
        book.at = max(book.at, at)
        if (timer := book.next_timer()) is None or timer > book.at:
            return
        self._wake_at = book.look_at = None
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
            self._set_backoff(decision)
            book.decisions.append(decision)
        book.to_retry = {}

    def _move_widths(self) -> None:
        book = self.book
        hosts, book.to_learn = book.to_learn, {}
        for host in hosts.values():
            for move in learning.moves(host, book.at):
                self._apply[type(move)](move)
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

    # What each event changes

    def _on_woke(self, event: events.Woke) -> None:
        self._wake_at = None  # that alarm has rung, perhaps a little early

    def _on_hosts(self, event: events.HostsConfigured) -> None:
        self.book.configure(event.hosts, event.rules, event.families, event.routes, event.budgets)
        pulling.renew_all(self.book)

    def _on_run_opened(self, event: events.RunOpened) -> None:
        if event.run in self.book.runs:
            return  # it was already opened
        purpose = event.purpose or Purpose.PLAN
        run = Run(event.run, event.seed, event.source, dict(event.parents), event.at, event.at, purpose=purpose)
        run.concurrency, run.fail_fast, run.weight = event.concurrency, event.fail_fast, event.weight
        run.max_cost = event.max_cost
        run.about = event.about or run.about
        self.book.runs[event.run] = run
        self.book.touch(run)

    def _on_run_resumed(self, event: events.RunResumed) -> None:
        book = self.book
        run = book.runs.get(event.run)
        if run is None:
            return
        was_serial = run.concurrency == 1
        run.concurrency, run.fail_fast, run.draining = event.concurrency, event.fail_fast, False
        run.weight = run.weight if event.weight is None else event.weight
        run.max_cost = event.max_cost
        run.about = event.about or run.about
        run.draining = run.max_cost is not None and run.cost >= run.max_cost
        run.bounded_at = book.at
        if was_serial != (run.concurrency == 1) and not book.replaying:
            book.ready.order_anew(run)
        book.touch(run)

    def _on_run_drained(self, event: events.RunDrained) -> None:
        run = self.book.runs.get(event.run)
        if run is not None:
            run.draining = True
            self.book.touch(run)

    def _on_run_stopped(self, event: events.RunStopped) -> None:
        run = self.book.runs.get(event.run)
        if run is None:
            return
        run.draining = True
        for running in list(self.book.running.values()):
            if running.record.run == event.run and not pulling.is_in_hands(running):
                cause = Cause(CausedBy.PERSON, "stopped by a person")
                intake.stop(self.book, running.record, EndingKind.PREEMPTED, cause)
        self.book.touch(run)

    def _on_run_noted(self, event: events.RunNoted) -> None:
        run = self.book.runs.get(event.run)
        if run is None:
            return
        run.notes.append(RunNote(event.at, event.note))
        if event.ends and not run.unfinished:
            run.ended_at = event.at

    def _on_submitted(self, event: events.TasksSubmitted) -> None:
        intake.submit(self.book, self.book.runs[event.run], event.tasks, event.origin or Origin.PLAN)

    def _on_edited(self, event: events.TaskEdited) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task.id in run.records:
            intake.edit(self.book, run, run.records[event.task.id], event.task, event.origin or Origin.PLAN)

    def _on_spawned(self, event: events.AttemptSpawned) -> None:
        running = self.book.running.get(event.attempt)
        if running is not None:
            running.process = event.process
            self.book.commands.append(ReleaseAttempt(event.attempt))

    def _on_showed(self, event: events.AttemptShowed) -> None:
        running = self.book.running.get(event.attempt)
        if running is not None:
            running.host.limit.tick(event.at)
            running.host.limit.showed(event.at, event.attempt)
            self.book.to_learn[running.host.name] = running.host

    def _on_cancel(self, event: events.CancelAsked) -> None:
        book = self.book
        run = book.runs.get(event.run)
        if run is None:
            return
        cause = Cause(event.by or CausedBy.PERSON, event.why or "cancelled by a person")
        if not event.task:
            intake.cancel_all(book, run, cause)
        elif event.task in run.records:
            record = run.records[event.task]
            intake.cancel(book, run, record, cause)
            families.withdraw(book, run, record, cause)

    def _on_retry(self, event: events.RetryAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.retry(self.book, run, run.records[event.task], event.again)

    def _on_change(self, event: events.ChangeAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.change(self.book, run, run.records[event.task], event.change)

    def _on_defer(self, event: events.DeferAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.defer(self.book, run.records[event.task])
            self.book.touch(run)

    def _on_resume(self, event: events.ResumeAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.resume(self.book, run, run.records[event.task])

    def _on_answered(self, event: events.QuestionAnswered) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            people.answer(self.book, run, run.records[event.task], event)

    def _on_judged(self, event: events.WorkJudged) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            people.judge(self.book, run, run.records[event.task], event)

    def _on_paused(self, event: events.HostPaused) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None and not host.is_gone:
            host.pause(event.why or "paused by a person", event.until)
            if event.until is not None:
                self.book.set_timer(event.until)

    def _on_unpaused(self, event: events.HostResumed) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None and not host.is_gone:
            host.resume()

    def _on_width_set(self, event: events.WidthSet) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.pinned = event.width
            self.book.to_learn[host.name] = host

    def _on_started(self, event: events.AttemptStarted) -> None:
        record = self.book.runs[event.run].records[event.task]
        attempts.begin(self.book, event, record)

    def _on_stop(self, event: events.StopDecided) -> None:
        running = self.book.running.get(event.attempt)
        if running is not None:
            running.stop_why, running.stop_detail = event.why, event.detail
            running.stop_by = event.by or CausedBy.NOBODY

    def _on_backoff(self, event: events.RetryDecided) -> None:
        self._set_backoff(event)

    def _set_backoff(self, decision: events.RetryDecided) -> None:
        book = self.book
        record = book.runs[decision.run].records[decision.task]
        if book.replaying:
            book.to_retry.pop(record.number, None)
        record.until = decision.until
        if decision.until <= book.at:
            intake.queue_again(book, record)
        else:
            book.set_timer(decision.until, record)

    def _on_width_moved(self, event: events.WidthMoved) -> None:
        host = self.book.hosts.get(event.host)
        if host is None:
            return
        if event.kind:
            lane = host.open_lane(event.kind)
            lane.width, lane.why = event.width, event.reason
        else:
            host.width, host.reason = event.width, event.reason
            self.book.note_room(host)

    def _on_read(self, event: events.HostRead) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            learning.read(host, event)
            self.book.to_learn[host.name] = host

    def _on_workers_moved(self, event: events.WorkersMoved) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.workers, host.workers_why = event.workers, event.reason

    def _on_forgotten(self, event: events.MemoryForgotten) -> None:
        self.book.forget(event.host, event.kind)


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
