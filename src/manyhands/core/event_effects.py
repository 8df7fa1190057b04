"""What each event changes in the book. The scheduler applies it, and decides afterwards what follows."""

from collections.abc import Callable
from typing import Any

from manyhands.core import attempts, budgets, events, families, intake, learning, people, pulling
from manyhands.core.book import Book
from manyhands.core.commands import ReleaseAttempt
from manyhands.core.state import Run, RunNote
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.provenance import Cause, CausedBy, Origin, Purpose


def _on_woke(book: Book, event: events.Woke) -> None:
    book.wake_at = None  # that alarm has rung, perhaps a little early


def _on_hosts(book: Book, event: events.HostsConfigured) -> None:
    book.configure(event.hosts, event.rules, event.families, event.routes, event.budgets)
    pulling.renew_all(book)


def _on_run_opened(book: Book, event: events.RunOpened) -> None:
    if event.run in book.runs:
        return  # it was already opened
    purpose = event.purpose or Purpose.PLAN
    run = Run(event.run, event.seed, event.source, dict(event.parents), event.at, event.at, purpose=purpose)
    run.concurrency, run.fail_fast, run.weight = event.concurrency, event.fail_fast, event.weight
    run.max_cost = event.max_cost
    run.about = event.about or run.about
    book.runs[event.run] = run
    book.touch(run)


def _on_schedule_kept(book: Book, event: events.ScheduleKept) -> None:
    book.schedules[event.source] = (event.schedule, event.until)


def _on_run_resumed(book: Book, event: events.RunResumed) -> None:
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


def _on_run_drained(book: Book, event: events.RunDrained) -> None:
    run = book.runs.get(event.run)
    if run is not None:
        run.draining = True
        book.touch(run)


def _on_run_stopped(book: Book, event: events.RunStopped) -> None:
    run = book.runs.get(event.run)
    if run is None:
        return
    run.draining = True
    for running in list(book.running.values()):
        if running.record.run == event.run and not pulling.is_in_hands(running):
            cause = Cause(CausedBy.PERSON, "stopped by a person")
            intake.stop(book, running.record, EndingKind.PREEMPTED, cause)
    book.touch(run)


def _on_run_noted(book: Book, event: events.RunNoted) -> None:
    run = book.runs.get(event.run)
    if run is None:
        return
    run.notes.append(RunNote(event.at, event.note))
    if event.ends and not run.unfinished:
        run.ended_at = event.at


def _on_submitted(book: Book, event: events.TasksSubmitted) -> None:
    intake.submit(book, book.runs[event.run], event.tasks, event.origin or Origin.PLAN)


def _on_edited(book: Book, event: events.TaskEdited) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task.id in run.records:
        intake.edit(book, run, run.records[event.task.id], event.task, event.origin or Origin.PLAN)


def _on_spawned(book: Book, event: events.AttemptSpawned) -> None:
    running = book.running.get(event.attempt)
    if running is not None:
        running.process = event.process
        book.commands.append(ReleaseAttempt(event.attempt))


def _on_showed(book: Book, event: events.AttemptShowed) -> None:
    running = book.running.get(event.attempt)
    if running is not None:
        running.host.limit.tick(event.at)
        running.host.limit.showed(event.at, event.attempt)
        book.to_learn[running.host.name] = running.host


def _on_cancel(book: Book, event: events.CancelAsked) -> None:
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


def _on_retry(book: Book, event: events.RetryAsked) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        intake.retry(book, run, run.records[event.task], event.again)


def _on_change(book: Book, event: events.ChangeAsked) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        intake.change(book, run, run.records[event.task], event.change)


def _on_defer(book: Book, event: events.DeferAsked) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        intake.defer(book, run.records[event.task])
        book.touch(run)


def _on_resume(book: Book, event: events.ResumeAsked) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        intake.resume(book, run, run.records[event.task])


def _on_answered(book: Book, event: events.QuestionAnswered) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        people.answer(book, run, run.records[event.task], event)


def _on_judged(book: Book, event: events.WorkJudged) -> None:
    run = book.runs.get(event.run)
    if run is not None and event.task in run.records:
        people.judge(book, run, run.records[event.task], event)


def _on_paused(book: Book, event: events.HostPaused) -> None:
    host = book.hosts.get(event.host)
    if host is not None and not host.is_gone:
        host.pause(event.why or "paused by a person", event.until)
        if event.until is not None:
            book.set_timer(event.until)


def _on_unpaused(book: Book, event: events.HostResumed) -> None:
    host = book.hosts.get(event.host)
    if host is not None and not host.is_gone:
        host.resume()


def _on_width_set(book: Book, event: events.WidthSet) -> None:
    host = book.hosts.get(event.host)
    if host is not None:
        host.pinned = event.width
        book.to_learn[host.name] = host


def _on_started(book: Book, event: events.AttemptStarted) -> None:
    record = book.runs[event.run].records[event.task]
    attempts.begin(book, event, record)


def _on_stop(book: Book, event: events.StopDecided) -> None:
    running = book.running.get(event.attempt)
    if running is not None:
        running.stop_why, running.stop_detail = event.why, event.detail
        running.stop_by = event.by or CausedBy.NOBODY


def _on_backoff(book: Book, event: events.RetryDecided) -> None:
    record = book.runs[event.run].records[event.task]
    if book.replaying:
        book.to_retry.pop(record.number, None)
    record.until = event.until
    if event.until <= book.at:
        intake.queue_again(book, record)
    else:
        book.set_timer(event.until, record)


def _on_width_moved(book: Book, event: events.WidthMoved) -> None:
    host = book.hosts.get(event.host)
    if host is None:
        return
    if event.kind:
        lane = host.open_lane(event.kind)
        lane.width, lane.why = event.width, event.reason
    else:
        host.width, host.reason = event.width, event.reason
        book.note_room(host)


def _on_read(book: Book, event: events.HostRead) -> None:
    host = book.hosts.get(event.host)
    if host is not None:
        learning.read(host, event)
        if event.trouble is not None:
            host.probe_trouble = event.trouble
        book.to_learn[host.name] = host


def _on_workers_moved(book: Book, event: events.WorkersMoved) -> None:
    host = book.hosts.get(event.host)
    if host is not None:
        host.workers, host.workers_why = event.workers, event.reason


def _on_forgotten(book: Book, event: events.MemoryForgotten) -> None:
    book.forget(event.host, event.kind)


#: By the type of the event.
EFFECTS: dict[type[Any], Callable[[Book, Any], None]] = {
    events.HostsConfigured: _on_hosts,
    events.RunOpened: _on_run_opened,
    events.ScheduleKept: _on_schedule_kept,
    events.RunResumed: _on_run_resumed,
    events.RunDrained: _on_run_drained,
    events.RunStopped: _on_run_stopped,
    events.RunPutAway: lambda book, event: book.put_away(event.run),
    events.RunNoted: _on_run_noted,
    events.TasksSubmitted: _on_submitted,
    events.TaskEdited: _on_edited,
    events.AttemptSpawned: _on_spawned,
    events.AttemptShowed: _on_showed,
    events.AttemptEnded: attempts.end,
    events.WorkWanted: pulling.want,
    events.LeaseRenewed: pulling.renew,
    events.WorkHandedIn: pulling.hand_in,
    events.CancelAsked: _on_cancel,
    events.RetryAsked: _on_retry,
    events.DeferAsked: _on_defer,
    events.ResumeAsked: _on_resume,
    events.QuestionAsked: people.ask,
    events.QuestionAnswered: _on_answered,
    events.WorkJudged: _on_judged,
    events.ChangeAsked: _on_change,
    events.HostPaused: _on_paused,
    events.HostResumed: _on_unpaused,
    events.WidthSet: _on_width_set,
    events.HostRead: _on_read,
    events.WorkersMoved: _on_workers_moved,
    events.MemoryForgotten: _on_forgotten,
    events.BudgetRaised: budgets.raise_budget,
    events.Delivered: lambda book, event: book.outbox.delivered(event.delivery),
    events.DeliveryGivenUp: lambda book, event: book.outbox.given_up(event.delivery, event.error, event.tries),
    events.ResendAsked: lambda book, event: book.outbox.resend(event.delivery, event.app),
    events.Woke: _on_woke,
    events.AttemptStarted: _on_started,
    events.StopDecided: _on_stop,
    events.RetryDecided: _on_backoff,
    events.WidthMoved: _on_width_moved,
    events.FamilyMoved: families.move,
    events.BudgetReached: budgets.note_reached,
}
