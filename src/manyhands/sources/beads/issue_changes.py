"""Changes to an issue, as values, and their outcomes: a patch, nothing to do, or a refusal with its reason.

Every change states what it expects to find. The writers apply it to the state at that moment.
"""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from manyhands.sources.beads.go_json import whole_text
from manyhands.sources.beads.issue import STATUSES, Category, Issue
from manyhands.sources.beads.times import nanoseconds, written

#: How much of a text goes into the issue. The full text stays in our store.
SUMMARY_MAX = 2000
#: The start of the close reason of a cancelled issue.
_CANCELLED = "cancelled"


class Claim(Struct, frozen=True, tag=True):
    """Take an open issue that nobody else has. `holder` names the run, so that claims of a dead run can be found.

    A deferred or blocked issue may be taken if a person has asked for it again since, at `wanted_at`.
    """

    id: str
    holder: str
    wanted_at: float = 0.0


class Close(Struct, frozen=True, tag=True):
    """Close an issue as done. An epic, which nobody claims, is closed with the holder ""."""

    id: str
    holder: str
    summary: str = ""
    reason: str = "done"


class Block(Struct, frozen=True, tag=True):
    """Block an issue whose attempts are used up."""

    id: str
    holder: str
    error: str


class Cancel(Struct, frozen=True, tag=True):
    """Close an issue with a reason that Beads treats as a failure: issues that wait for a failure continue."""

    id: str
    holder: str
    why: str = ""


class Defer(Struct, frozen=True, tag=True):
    id: str
    holder: str
    until: float | None = None  # seconds since 1970; None: until a person opens it again


class ReleaseIssue(Struct, frozen=True, tag=True):
    """Open an issue again, for anyone to take."""

    id: str
    holder: str


Change = Claim | Close | Block | Cancel | Defer | ReleaseIssue


class ChangeResult(enum.StrEnum):
    WRITTEN = "written"
    ALREADY = "already"  # the state was already so: the change was repeated
    REFUSED = "refused"  # the current state is not what the change expects
    MISSING = "missing"  # no such issue, or its line cannot be read now


class IssueOutcome(Struct, frozen=True):
    id: str
    result: ChangeResult
    why: str = ""  # the reason why it was not written
    updated_at: str = ""  # the value in the backlog afterwards

    @property
    def holds(self) -> bool:
        """Whether the backlog now has the state that the change asks for."""
        return self.result in (ChangeResult.WRITTEN, ChangeResult.ALREADY)


class BacklogWriter(Protocol):
    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        """Apply the changes, of one or several issues. Returns one outcome each, in order, once all are on disk."""
        ...


#: Fields to set; None removes a field.
Patch = dict[str, Any]


def patch_for(
    issue: Issue, change: Change, now_ns: int, statuses: Mapping[str, Category] = STATUSES
) -> Patch | IssueOutcome:
    """The patch for the change, or the outcome if there is nothing to write."""
    if obstacle := obstacle_to(change, issue, statuses):
        return IssueOutcome(issue.id, ChangeResult.REFUSED, obstacle, issue.updated_at)
    if is_already(issue, change):
        return IssueOutcome(issue.id, ChangeResult.ALREADY, "", issue.updated_at)
    at = written(_strictly_after(issue.updated_at, now_ns))
    patch = _fields_of(issue, change, at)
    if entry := note_of(change):
        patch["notes"] = f"{issue.notes.rstrip()}\n\n{entry}" if issue.notes.strip() else entry
    patch["updated_at"] = at
    # Beads refuses an open issue with a closing time, and a closed issue without one.
    if patch["status"] == "closed":
        patch["closed_at"] = at
    else:
        patch["closed_at"] = patch["close_reason"] = None
    return patch


def _fields_of(issue: Issue, change: Change, at: str) -> Patch:
    match change:
        case Claim():
            return {"status": "in_progress", "assignee": change.holder, "started_at": issue.started_at or at}
        case Close() | Cancel():
            return {"status": "closed", "close_reason": close_reason(change)}
        case Block():
            return {"status": "blocked"}
        case Defer():
            until = None if change.until is None else written(int(change.until * 1e9))
            assignee = issue.assignee if issue.assignee != change.holder else ""
            return {"status": "deferred", "assignee": assignee or None, "defer_until": until}
        case ReleaseIssue():
            return {"status": "open", "assignee": None}


def close_reason(change: Close | Cancel) -> str:
    if isinstance(change, Close):
        return printable(change.reason)
    return printable(f"{_CANCELLED}: {change.why}" if change.why else _CANCELLED)


#: The status each change ends in.
GOAL = {
    Claim: "in_progress",
    Close: "closed",
    Cancel: "closed",
    Block: "blocked",
    Defer: "deferred",
    ReleaseIssue: "open",
}


def is_already(issue: Issue, change: Change) -> bool:
    """Whether we have already made this change: repeating it after a crash must not apply it twice."""
    if issue.status != GOAL[type(change)] or note_of(change) not in issue.notes:
        return False
    match change:
        case Claim():
            return issue.assignee == change.holder
        case Close() | Cancel():
            return issue.close_reason == close_reason(change)
        case Block():
            return issue.assignee == change.holder
        case Defer():
            until = None if change.until is None else int(change.until * 1e9)
            return nanoseconds(issue.defer_until) == until
        case ReleaseIssue():
            return not issue.assignee


def obstacle_to(change: Change, issue: Issue, statuses: Mapping[str, Category] = STATUSES) -> str:
    """What in the current state prevents the change; "" if nothing does."""
    if is_already(issue, change):
        return ""
    has_it = f"is {issue.status}" + (f" and assigned to {issue.assignee}" if issue.assignee else "")
    is_ours = issue.status == "in_progress" and issue.assignee == change.holder
    match change:
        case Claim():
            is_free = statuses.get(issue.status) == "active" and issue.assignee in ("", change.holder)
            is_ours_again = issue.status == "blocked" and issue.assignee == change.holder  # wanted again
            is_given_back = can_be_opened(issue, change.holder) and is_older(issue, change.wanted_at)
            return "" if is_free or is_ours_again or is_given_back else has_it
        case Close() if issue.is_epic and not change.holder:
            return has_it if issue.status in ("closed", "pinned") else ""
        case Cancel() | Defer():
            is_free = issue.status in ("open", "blocked", "deferred")
            return "" if is_ours or is_free else has_it
        case ReleaseIssue() if can_be_opened(issue, change.holder):
            return ""
        case _:
            return "" if is_ours else has_it


def can_be_opened(issue: Issue, holder: str) -> bool:
    """Whether a person may have it run again: it was deferred, or we wrote that it failed or was cancelled."""
    is_ended_so = issue.status == "blocked" or (issue.status == "closed" and issue.close_reason.startswith(_CANCELLED))
    return (issue.status == "deferred" or is_ended_so) and issue.assignee in ("", holder)


def is_older(issue: Issue, wanted_at: float) -> bool:
    """Whether the issue has not changed since a person asked for it again."""
    return wanted_at * 1e9 > (nanoseconds(issue.updated_at) or 0)


def note_of(change: Change) -> str:
    """The note that the change adds. It contains no time, so a repeated change has the same note."""
    match change:
        case Close() if change.summary:
            return f"{_author(change)} done:\n{shortened(change.summary)}"
        case Block():
            return f"{_author(change)} failed:\n{shortened(change.error)}"
        case _:
            return ""


def _author(change: Close | Block) -> str:
    return printable(f"manyhands {change.holder}".rstrip())


def shortened(text: str) -> str:
    text = printable(text).strip()
    if len(text) <= SUMMARY_MAX:
        return text
    return f"{text[:SUMMARY_MAX].rstrip()} … ({len(text) - SUMMARY_MAX:,} more characters in the store of manyhands)"


def printable(text: str) -> str:
    """Text for a file or a command line: neither takes half of a surrogate pair, and the second takes no NUL."""
    return whole_text(text).replace("\0", "")


def _strictly_after(updated_at: str, now_ns: int) -> int:
    # Whole microseconds: some readers drop finer digits and would see no change.
    last_ns = nanoseconds(updated_at) or 0
    return max(now_ns // 1000 * 1000, (last_ns // 1000 + 1) * 1000)
