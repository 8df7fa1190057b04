"""Whether a request of another process may be applied. It is checked by the dispatcher: whoever asks may be anyone.

A request that may not be applied is set aside and named. It never ends a dispatcher.
"""

import math
from collections.abc import Container
from typing import get_args

from manyhands.core.book import Book
from manyhands.core.events import (
    AnyEvent,
    BudgetRaised,
    CancelAsked,
    ChangeAsked,
    DeferAsked,
    HostPaused,
    HostResumed,
    LeaseRenewed,
    MemoryForgotten,
    QuestionAnswered,
    ResendAsked,
    ResumeAsked,
    RetryAsked,
    RunDrained,
    RunNoted,
    RunOpened,
    RunResumed,
    RunStopped,
    TasksSubmitted,
    WidthSet,
    WorkHandedIn,
    WorkJudged,
    WorkWanted,
)
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import Task
from manyhands.engine.store.contract.journal import UnreadableRequest
from manyhands.engine.task_changes import why_not_changed
from manyhands.field_rules import NAME_MAX
from manyhands.readers.compiled_rules import compiled_rules
from manyhands.readers.name_rules import is_good_name

#: The most that a person may say to a task at once. Whoever needs more writes a file and names it.
WORDS_MAX = 20_000
#: What other processes may ask of a dispatcher. Whatever else is among the requests is not applied.
Request = (
    RunOpened
    | TasksSubmitted
    | RunNoted
    | RunResumed
    | RunDrained
    | RunStopped
    | CancelAsked
    | RetryAsked
    | DeferAsked
    | ResumeAsked
    | QuestionAnswered
    | WorkJudged
    | ChangeAsked
    | HostPaused
    | HostResumed
    | WidthSet
    | MemoryForgotten
    | ResendAsked
    | BudgetRaised
    | WorkWanted
    | LeaseRenewed
    | WorkHandedIn
)
_KINDS = get_args(Request)
_PURPOSES = (None, Purpose.PLAN, Purpose.HAND)
_ORIGINS = (None, Origin.PLAN, Origin.HAND, Origin.RESERVED)
_keeps_rules = compiled_rules(Task)


def why_refused(event: AnyEvent | UnreadableRequest, book: Book, opened: Container[str] = ()) -> str:
    """ "": it may be applied. `opened`: runs that an earlier request opens."""
    if isinstance(event, UnreadableRequest):
        return event.why
    if not isinstance(event, _KINDS):
        return f"`{type(event).__name__}` is not something that can be asked for"
    if not math.isfinite(event.at):
        return f"its time is {event.at}"
    match event:
        case RunOpened():
            return _why_not_opened(event) or _why_not_bounded(event)
        case RunResumed():
            return _why_not_bounded(event)
        case TasksSubmitted() | RunNoted() if event.run not in book.runs and event.run not in opened:
            return f"there is no run `{event.run[:100]}`"
        case TasksSubmitted():
            return _why_not_submitted(event)
        case ChangeAsked():
            return _why_not_changed(event, book)
        case RunNoted() if event.ends:
            return "only the application itself ends its run"
        case WorkJudged() | QuestionAnswered() if len(event.words) > WORDS_MAX or len(event.by) > NAME_MAX:
            return "its words are too long"
        case HostPaused() if event.until is not None and not math.isfinite(event.until):
            return f"it pauses a host until {event.until}"
        case WorkWanted() | LeaseRenewed() | WorkHandedIn() if not is_good_name(event.puller):
            return f"`{event.puller[:100]}` cannot be the name of an agent"
        case WorkWanted() if not math.isfinite(event.until):
            return f"an agent waits until {event.until}"
        case LeaseRenewed():
            return why_not_used(event.tokens_in, event.tokens_out, event.cost)
        case WorkHandedIn():
            said = event.ending
            return why_not_used(said.tokens_in, said.tokens_out, said.cost)
        case WidthSet() if event.width is not None and event.width < 0:
            return f"a width must be at least 0, got {event.width}"
        case _:
            return ""


def _why_not_opened(event: RunOpened) -> str:
    if not is_good_name(event.run):
        return f"`{event.run[:100]}` cannot be the name of a run"
    if event.purpose not in _PURPOSES:
        return f"a run for {event.purpose} cannot be asked for"
    if any(count < 1 for count in event.parents.values()):
        return "a bound of the run is below 1"
    return ""


def _why_not_bounded(event: RunOpened | RunResumed) -> str:
    if event.concurrency is not None and event.concurrency < 1:
        return f"the concurrency of a run must be at least 1, got {event.concurrency}"
    for name, value in (("weight", event.weight), ("max_cost", event.max_cost)):
        if value is not None and not (math.isfinite(value) and value > 0):
            return f"the `{name}` of a run must be above 0, got {value}"
    return ""


def _why_not_changed(event: ChangeAsked, book: Book) -> str:
    run = book.runs.get(event.run)
    record = run.records.get(event.task) if run is not None else None
    if run is None or record is None:
        return f"there is no task `{event.task[:100]}` in run `{event.run[:100]}`"
    return why_not_changed(run, record, event.change)


def _why_not_submitted(event: TasksSubmitted) -> str:
    if event.origin not in _ORIGINS:
        return f"tasks of origin {event.origin} cannot be asked for"
    wrong = next((task.id for task in event.tasks if not _keeps_rules(task) or not is_good_name(task.id)), None)
    return "" if wrong is None else f"task `{wrong[:100]}` breaks the rules of a plan"


def why_not_used(tokens_in: int, tokens_out: int, cost: float | None) -> str:
    """What an agent says that it used counts against budgets, so it must be a number that can be added up."""
    if min(tokens_in, tokens_out) < 0:
        return f"tokens must be 0 or more, got {min(tokens_in, tokens_out)}"
    if cost is not None and not (math.isfinite(cost) and cost >= 0):
        return f"a cost must be 0 or more, got {cost}"
    return ""
