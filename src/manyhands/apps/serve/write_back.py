"""Compares the results of tasks with their issues: the changes that bring the issues up to date. Pure.

The latest change wins. If an issue was changed after its task ended, someone has opened it again. If it was not, its
result has not been written yet, or a program has overwritten it with what it read before.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from manyhands.apps.serve.live_backlog import Remark
from manyhands.apps.serve.reconcile import was_taken_away
from manyhands.core import events
from manyhands.core.state import Record, Run
from manyhands.core.values.provenance import CausedBy, Origin
from manyhands.core.values.task import TaskState
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.beads_ready import children_of, finished_epics
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_changes import (
    Block,
    Cancel,
    Change,
    Claim,
    Close,
    Defer,
    ReleaseIssue,
    can_be_opened,
    is_older,
)
from manyhands.sources.beads.times import nanoseconds

_WAITING = (TaskState.READY, TaskState.BLOCKED, TaskState.BACKOFF)


def comes_back(record: Record, issue: Issue) -> bool:
    """It failed or was cancelled here, and its issue was opened since then."""
    return record.state in (TaskState.FAILED, TaskState.CANCELLED) and _is_open(issue) and _spoke_last(issue, record)


def is_wanted_again(record: Record, issue: Issue) -> bool:
    """It was put off, failed or cancelled here or there, and a person has since asked here for it to continue."""
    return can_be_opened(issue, issue.assignee) and is_older(issue, record.wanted_at)


def deferrals(beads: Beads, run: Run, at: float) -> list[events.Input]:
    """Tasks whose issues someone has put off: they wait until the issue is open again."""
    found: list[events.Input] = []
    for id, record in run.records.items():
        issue = beads.issues.get(id)
        if issue is None or issue.status != "deferred" or is_wanted_again(record, issue) or record.task.deferred:
            continue
        if record.state in _WAITING and not record.history:
            put_off = replace(record.task, deferred="its issue is deferred")
            found.append(events.TaskEdited(at, run.name, put_off, record.origin))
    return found


def returned(beads: Beads, run: Run, at: float) -> list[events.Input]:
    """Tasks that were put off here, and whose issues someone has opened since."""
    return [
        events.ResumeAsked(at, run.name, id)
        for id, record in run.records.items()
        if record.state is TaskState.DEFERRED
        and record.cause.by is CausedBy.PERSON
        and (issue := beads.issues.get(id)) is not None
        and _is_open(issue)
        and _spoke_last(issue, record)
    ]


def write_back(beads: Beads, records: Mapping[str, Record], holder: str) -> tuple[list[Change], list[Remark]]:
    changes: list[Change] = []
    remarks: list[Remark] = []
    for id, record in records.items():
        issue = beads.issues.get(id)
        if issue is None or record.origin is Origin.HAND:
            continue
        if record.state is TaskState.DONE and _is_open(issue) and _spoke_last(issue, record):
            remarks.append(Remark(id, "was done here and is open again; create a new issue for what is left to do"))
            continue
        changes += _changes_for(record, issue, holder)
    return [*changes, *_epics(beads, records)], remarks


def _changes_for(record: Record, issue: Issue, holder: str) -> list[Change]:
    id = issue.id
    is_ours = issue.status == "in_progress" and issue.assignee == holder
    is_put_back = _is_open(issue) and not _spoke_last(issue, record)
    claim: list[Change] = [] if is_ours else [Claim(id, holder)]
    if record.state in _WAITING and is_wanted_again(record, issue):
        return [ReleaseIssue(id, holder)]
    match record.state:
        case TaskState.DONE if is_ours or is_put_back:
            return [*claim, Close(id, holder, _summary(record))]
        case TaskState.FAILED if is_ours or is_put_back:
            return [*claim, Block(id, holder, _error(record))]
        case TaskState.CANCELLED if (is_ours or is_put_back) and not was_taken_away(record):
            return [Cancel(id, holder, record.cause.why)]
        case TaskState.DEFERRED if (is_ours or is_put_back) and record.cause.by is CausedBy.PERSON:
            return [Defer(id, holder)]
        case TaskState.SKIPPED if is_ours:
            return [ReleaseIssue(id, holder)]
        case TaskState.RUNNING if _is_open(issue):
            return claim
    return []


def releases(beads: Beads, records: Mapping[str, Record], holder: str) -> Iterator[Change]:
    """Release the tasks that are held and will not continue now: anyone may take them."""
    for id, issue in beads.issues.items():
        if issue.status == "in_progress" and issue.assignee == holder:
            record = records.get(id)
            if record is None or record.state in _WAITING:
                yield ReleaseIssue(id, holder)


def _epics(beads: Beads, records: Mapping[str, Record]) -> list[Change]:
    """Finished epics with at least one task done here. Whoever did the others closes them."""
    finished = finished_epics(beads)
    if not finished:
        return []
    children = children_of(beads.issues)
    return [
        Close(id, "", reason="all of its children are closed")
        for id in finished
        if any((record := records.get(child)) and record.state is TaskState.DONE for child in children[id])
    ]


def _is_open(issue: Issue) -> bool:
    return issue.status == "open"


def _spoke_last(issue: Issue, record: Record) -> bool:
    return (nanoseconds(issue.updated_at) or 0) >= record.since * 1e9


def _summary(record: Record) -> str:
    ending = record.last_ending
    said = (ending.result or ending.tail).strip() if ending is not None else ""
    if said or not record.history:
        return said
    return f"attempt {len(record.history)} on {record.history[-1].host}; it printed nothing"


def _error(record: Record) -> str:
    ending = record.last_ending
    tail = ending.tail.strip() if ending is not None else ""
    why = record.cause.why
    return f"{why}\n{tail}".strip() if tail and tail not in why else why
