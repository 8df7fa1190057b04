"""The scheduler: events in, commands out. It alone changes the book, and it owns no clock.

Live, `handle` takes what happened, decides what follows from it, and returns both the decisions (to be journalled
with their causes) and the commands (to be carried out once they are on disk). From a journal, `replay` takes
inputs and decisions as they were, and decides nothing.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from manyhands.core import attempts, events, intake, retry, rules
from manyhands.core.book import Book
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.commands import AnyCommand, ReleaseAttempt, RunEnded, WakeAt
from manyhands.core.model import TERMINAL, EndingKind, Host, TaskState
from manyhands.core.starting import start_what_may
from manyhands.core.state import Run
from manyhands.core.widths import Limit


class Step(Struct, frozen=True):
    """What one round of events led to."""

    decisions: list[events.Decision]
    commands: list[AnyCommand]


def fixed_width(host: Host) -> Limit:
    """The limit of a host whose width the config gives; without one it takes one attempt at a time."""
    return Fixed(host.width.start or host.width.max or host.width.min)


class Scheduler:
    def __init__(self, limit_for: Callable[[Host], Limit] = fixed_width) -> None:
        self.book = Book(limit_for)
        self._wake_at: float | None = None
        self._apply: dict[type[Any], Callable[[Any], None]] = {
            events.HostsConfigured: self._on_hosts,
            events.RunOpened: self._on_run_opened,
            events.RunResumed: self._on_run_resumed,
            events.RunDrained: self._on_run_drained,
            events.RunStopped: self._on_run_stopped,
            events.TasksSubmitted: self._on_submitted,
            events.AttemptSpawned: self._on_spawned,
            events.AttemptEnded: lambda event: attempts.end(self.book, event),
            events.CancelAsked: self._on_cancel,
            events.RetryAsked: self._on_retry,
            events.DeferAsked: self._on_defer,
            events.ResumeAsked: self._on_resume,
            events.HostPaused: self._on_paused,
            events.HostResumed: self._on_unpaused,
            events.WidthSet: self._on_width_set,
            events.Woke: lambda event: None,
            events.AttemptStarted: self._on_started,
            events.StopDecided: self._on_stop,
            events.RetryDecided: self._on_backoff,
            events.WidthMoved: self._on_width_moved,
        }

    def handle(self, happened: Iterable[events.Input]) -> Step:
        """All that happened at once, and what follows. A task cancelled in the same breath never starts."""
        book = self.book
        book.decisions, book.commands = [], []
        for event in happened:
            self._pass_time(event.at)
            self._apply[type(event)](event)
        self._decide_retries()
        self._move_widths()
        rules.review(book)
        start_what_may(book)
        self._report_settled()
        timer = book.next_timer()
        if timer is not None and timer != self._wake_at:
            self._wake_at = timer
            book.commands.append(WakeAt(timer))
        return Step(book.decisions, book.commands)

    def replay(self, recorded: Iterable[events.AnyEvent]) -> None:
        """Come to where the journal ends. Attempts that were in flight then are in flight in the book."""
        book = self.book
        book.replaying = True
        for event in recorded:
            self._pass_time(event.at)
            self._apply[type(event)](event)
        book.replaying = False
        book.commands, book.unsettled = [], {}
        self.queue_ready()

    def queue_ready(self) -> None:
        """Put everything that is ready in its order: after a replay, which keeps none."""
        for run in self.book.runs.values():
            for record in run.records.values():
                if record.state not in TERMINAL:
                    self.book.ready.want(record, +1)
        for run in self.book.runs.values():
            for record in run.records.values():
                if record.state is TaskState.READY or record.held:
                    self.book.ready.add(run, record)

    def _pass_time(self, at: float) -> None:
        book = self.book
        book.at = max(book.at, at)
        if (timer := book.next_timer()) is None or timer > book.at:
            return
        self._wake_at = None
        for record in book.due(book.at):
            timeout_s = record.task.timeout
            if record.state is TaskState.BACKOFF and record.until <= book.at:
                book.queue(record)
            elif record.state is TaskState.RUNNING and timeout_s is not None:
                assert record.history
                overdue = record.history[-1].started_at + timeout_s <= book.at  # or an earlier attempt's timer
                if overdue:
                    intake.stop(book, record, EndingKind.TIMED_OUT, f"took longer than {timeout_s:g} s")
        for host in book.hosts.values():
            if host.paused_until is not None and host.paused_until <= book.at:
                host.paused = host.paused_until = None

    # Decisions

    def _decide_retries(self) -> None:
        book = self.book
        for record in book.to_retry:
            ending = record.last_ending
            assert ending is not None
            seed = book.runs[record.run].seed
            wait_s = retry.delay_s(ending, record.tries, record.setbacks, seed, record.task.id)
            decision = events.RetryDecided(book.at, record.run, record.task.id, book.at + wait_s)
            self._set_backoff(decision)
            book.decisions.append(decision)
        book.to_retry = []

    def _move_widths(self) -> None:
        book = self.book
        for host in book.hosts.values():
            width = host.pinned if host.pinned is not None else host.limit.width
            if width != host.width:
                reason = "set by a person" if host.pinned is not None else host.limit.reason
                move = events.WidthMoved(book.at, host.name, width, host.width, reason)
                self._on_width_moved(move)
                book.decisions.append(move)

    def _report_settled(self) -> None:
        """Say once that a run has come to rest: all ended, or nothing more can happen without a person."""
        book = self.book
        for run in book.unsettled.values():
            busy = run.in_flight or (
                not run.draining and (run.counts[TaskState.READY] or run.counts[TaskState.BACKOFF])
            )
            if busy or run.settled:
                continue
            run.settled = True
            book.commands.append(RunEnded(run.name))
        book.unsettled = {name: run for name, run in book.unsettled.items() if not run.settled}

    # What each event changes

    def _on_hosts(self, event: events.HostsConfigured) -> None:
        self.book.configure(event.hosts, event.rules)

    def _on_run_opened(self, event: events.RunOpened) -> None:
        run = Run(event.run, event.seed, event.source, dict(event.parents), event.at)
        run.concurrency, run.fail_fast = event.concurrency, event.fail_fast
        self.book.runs[event.run] = run
        self.book.touch(run)

    def _on_run_resumed(self, event: events.RunResumed) -> None:
        run = self.book.runs[event.run]
        run.concurrency, run.fail_fast, run.draining = event.concurrency, event.fail_fast, False
        self.book.touch(run)

    def _on_run_drained(self, event: events.RunDrained) -> None:
        run = self.book.runs[event.run]
        run.draining = True
        self.book.touch(run)

    def _on_run_stopped(self, event: events.RunStopped) -> None:
        run = self.book.runs[event.run]
        run.draining = True
        for running in list(self.book.running.values()):
            if running.record.run == event.run:
                intake.stop(self.book, running.record, EndingKind.PREEMPTED, "stopped by a person")
        self.book.touch(run)

    def _on_submitted(self, event: events.TasksSubmitted) -> None:
        intake.submit(self.book, self.book.runs[event.run], event.tasks)

    def _on_spawned(self, event: events.AttemptSpawned) -> None:
        running = self.book.running.get(event.attempt)
        if running is not None:
            running.process = event.process
            self.book.commands.append(ReleaseAttempt(event.attempt))

    def _on_cancel(self, event: events.CancelAsked) -> None:
        book = self.book
        run = book.runs.get(event.run)
        if run is None:
            return
        why = event.why or "cancelled by a person"
        wanted = [run.records[event.task]] if event.task in run.records else []
        for record in wanted if event.task else list(run.records.values()):
            intake.cancel(book, run, record, why)

    def _on_retry(self, event: events.RetryAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.retry(self.book, run, run.records[event.task])

    def _on_defer(self, event: events.DeferAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.defer(self.book, run.records[event.task])
            self.book.touch(run)

    def _on_resume(self, event: events.ResumeAsked) -> None:
        run = self.book.runs.get(event.run)
        if run is not None and event.task in run.records:
            intake.resume(self.book, run, run.records[event.task])

    def _on_paused(self, event: events.HostPaused) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.paused, host.paused_until = event.why or "paused by a person", event.until
            if event.until is not None:
                self.book.set_timer(event.until)

    def _on_unpaused(self, event: events.HostResumed) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.paused = host.paused_until = None

    def _on_width_set(self, event: events.WidthSet) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.pinned = event.width

    def _on_started(self, event: events.AttemptStarted) -> None:
        record = self.book.runs[event.run].records[event.task]
        attempts.begin(self.book, event, record)

    def _on_stop(self, event: events.StopDecided) -> None:
        running = self.book.running.get(event.attempt)
        if running is not None:
            running.stop_why, running.stop_detail = event.why, event.detail

    def _on_backoff(self, event: events.RetryDecided) -> None:
        self._set_backoff(event)
        self.book.to_retry = []

    def _set_backoff(self, decision: events.RetryDecided) -> None:
        book = self.book
        record = book.runs[decision.run].records[decision.task]
        record.until = decision.until
        if decision.until <= book.at:
            book.queue(record)
        else:
            book.set_timer(decision.until, record)

    def _on_width_moved(self, event: events.WidthMoved) -> None:
        host = self.book.hosts.get(event.host)
        if host is not None:
            host.width, host.reason = event.width, event.reason
