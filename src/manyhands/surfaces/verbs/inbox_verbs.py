"""What waits for a person, and the command that answers each item."""

import enum
import math
import shlex
from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.explain import ready_for
from manyhands.core.state import HostState, Record, Run
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.question import Question, QuestionKind
from manyhands.core.values.spending_limit import BudgetHold
from manyhands.core.values.task import TaskState
from manyhands.surfaces.verbs.book_view import BookView
from manyhands.surfaces.verbs.store_view import command_for, may_continue


class WaitsFor(enum.StrEnum):
    """What a person has to decide or do."""

    APPROVAL = "approval"  # work that waits before it lands
    QUESTION = "question"  # a task asks something
    TASK = "task"  # its last attempt said that it needs a person
    FAILURE = "failure"  # a task failed, and others need it
    HOST = "host"  # a host needs a person before it can take anything, or a person has paused it
    ACCOUNT = "account"  # the account of a host is closed; it opens by itself
    BUDGET = "budget"  # a budget is used up
    RUN = "run"  # a run has tasks left, and no dispatcher is running


class InboxItem(Struct):
    waits_for: WaitsFor
    name: str  # of the task, the host or the run
    run: str | None  # of a task or a run
    holds: int  # how many unfinished tasks cannot run because of it
    since: float | None
    why: str
    command: str  # it answers the item


class Inbox(Struct):
    items: list[InboxItem]
    total: int


def list_inbox(view: BookView, limit: int | None = None) -> Inbox:
    """What holds the most tasks comes first; among equals, what has waited longest."""
    book = view.book_if_any
    if book is None:
        return Inbox([], 0)
    items = [*_tasks(book), *_hosts(book), *_budgets(book), *_runs(book, view.is_dispatching)]
    items.sort(key=lambda item: (-item.holds, math.inf if item.since is None else item.since, item.name))
    return Inbox(items[:limit], len(items))


def _tasks(book: Book) -> Iterator[InboxItem]:
    for run in _current(book):
        for record in run.records.values():
            held = _held_by(record)
            if record.state is TaskState.DEFERRED and record.cause.by is CausedBy.BUDGET:
                yield _task_item(WaitsFor.BUDGET, record, 1 + held, "resume")
            elif record.question is not None:
                yield _question_item(record, record.question, 1 + held)
            elif record.state is TaskState.NEEDS_PERSON:
                yield _task_item(WaitsFor.TASK, record, 1 + held, "resume")
            elif record.state is TaskState.FAILED and held and not record.is_step:
                yield _task_item(WaitsFor.FAILURE, record, 1 + held, "retry")


def _current(book: Book) -> list[Run]:
    """Runs with tasks left, and the newest run of each source: nobody waits for what an older one left undone."""
    newest = {(run.purpose, run.source): run for run in book.runs.values()}
    return [run for run in book.runs.values() if run.unfinished or newest[run.purpose, run.source] is run]


def _held_by(record: Record) -> int:
    """How many tasks need it, directly or through others, and are not done."""
    seen: set[int] = set()
    ahead = [record]
    while ahead:
        for dependent in ahead.pop().dependents or ():
            if dependent.number not in seen and dependent.state is not TaskState.DONE:
                seen.add(dependent.number)
                ahead.append(dependent)
    return len(seen)


def _question_item(record: Record, question: Question, holds: int) -> InboxItem:
    match question.kind:
        case QuestionKind.APPROVAL:
            seen = f"; `manyhands task diff {shlex.quote(record.task.id)}` shows it"
            return _task_item(WaitsFor.APPROVAL, record, holds, "approve", why=question.text + seen)
        case QuestionKind.QUESTION:
            choices = f" ({', '.join(question.choices)})" if question.choices else ""
            words = question.choices[0] if question.choices else "YOUR ANSWER"
            return _task_item(WaitsFor.QUESTION, record, holds, "answer", words, question.text + choices)
        case kind:
            assert_never(kind)


def _task_item(waits_for: WaitsFor, record: Record, holds: int, verb: str, words: str = "", why: str = "") -> InboxItem:
    id = record.task.id
    said = [words] if words else []
    command = shlex.join(["manyhands", "task", verb, id, *said, "--run", record.run])
    return InboxItem(waits_for, id, record.run, holds, record.since, why or record.cause.why, command)


def _hosts(book: Book) -> Iterator[InboxItem]:
    for host in book.hosts.values():
        if host.paused is not None and not host.is_gone and (waits_for := _host_waits_for(host)) is not None:
            command = f"manyhands host resume {shlex.quote(host.name)}"
            yield InboxItem(waits_for, host.name, None, ready_for(host, book), None, host.paused, command)


def _host_waits_for(host: HostState) -> WaitsFor | None:
    """None: it is paused for a while, and no person can or need do anything about it."""
    if host.is_closed:
        return WaitsFor.ACCOUNT
    return WaitsFor.HOST if host.needs_person or host.paused_until is None else None


def _budgets(book: Book) -> Iterator[InboxItem]:
    """Each budget once, with all that it holds."""
    held: dict[tuple[str, str], int] = {}
    holds: dict[tuple[str, str], BudgetHold] = {}
    for run in book.runs.values():
        if (hold := run.budget_hold) is not None:
            holds[hold.budget, hold.key] = hold
            held[hold.budget, hold.key] = run.counts[TaskState.READY] + run.counts[TaskState.BACKOFF]
    for host in book.hosts.values():
        if (hold := host.budget_hold) is not None:
            holds[hold.budget, hold.key] = hold
            waiting = held.get((hold.budget, hold.key), 0)
            held[hold.budget, hold.key] = max(waiting, ready_for(host, book))
    for place, hold in holds.items():
        if held[place]:
            of_run = hold.key if hold.per == "run" else None
            command = f"manyhands budget raise {shlex.join([hold.budget, *([hold.key] if hold.key else [])])}"
            yield InboxItem(WaitsFor.BUDGET, hold.budget, of_run, held[place], None, str(hold), command)


def _runs(book: Book, is_dispatching: bool) -> Iterator[InboxItem]:
    for run in book.runs.values():
        if not may_continue(run):
            continue  # what its tasks wait for has items of its own
        left = run.unfinished - run.counts[TaskState.DEFERRED] - run.counts[TaskState.NEEDS_PERSON]
        command, since = command_for(run), run.opened_at
        if run.max_cost is not None and run.cost >= run.max_cost:
            why = f"it has cost {run.cost:.2f} of at most {run.max_cost:.2f}"
            more = f"{command} --max-cost {2 * run.max_cost:g}"
            yield InboxItem(WaitsFor.BUDGET, run.name, run.name, left, since, why, more)
        elif not is_dispatching and run.budget_hold is None:
            why = "it has tasks left, and no dispatcher is running"
            yield InboxItem(WaitsFor.RUN, run.name, run.name, left, since, why, command)
