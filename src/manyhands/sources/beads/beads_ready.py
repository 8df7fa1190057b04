"""Which issues are ready, by the rules of Beads itself: pure functions of the issues and the time."""

import enum
import json
from collections.abc import Iterable, Mapping

from msgspec import Struct

from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue import BLOCKS, CONDITIONAL_BLOCKS, NOT_WORK, WAITS_FOR, Category, Dependency, Issue
from manyhands.sources.beads.times import nanoseconds

#: `conditional-blocks` waits for a failure. A close reason with one of these words counts as a failure.
FAILURE_WORDS = (
    "failed",
    "rejected",
    "wontfix",
    "won't fix",
    "canceled",
    "cancelled",
    "abandoned",
    "blocked",
    "error",
    "timeout",
    "aborted",
)
_RECENT_NS = 48 * 3600 * 1_000_000_000


class Conditional(enum.StrEnum):
    """What `conditional-blocks` means. The documents and the newest code of Beads do not agree."""

    ON_FAILURE = "on-failure"  # as documented: continues only if the other issue failed
    ON_CLOSE = "on-close"  # continues however the other issue was closed


class ReadyOrder(enum.StrEnum):
    PRIORITY = "priority"  # by priority, then the newest first
    HYBRID = "hybrid"  # issues of the last 48 hours by priority, then the oldest first
    OLDEST = "oldest"


class IssueWait(Struct, frozen=True):
    """An issue waits for another one."""

    target: str
    is_for_done: bool = True  # False: it waits for something other than the target being done
    why: str = ""


def children_of(issues: Mapping[str, Issue]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for id, issue in issues.items():
        for parent in issue.parents:
            children.setdefault(parent, []).append(id)
    return children


def direct_waits(
    issues: Mapping[str, Issue], conditional: Conditional = Conditional.ON_FAILURE
) -> dict[str, list[IssueWait]]:
    """Issues that wait because of their own dependencies. Waits of their parents are not included."""
    children = children_of(issues)
    waits: dict[str, list[IssueWait]] = {}
    for id, issue in issues.items():
        for dependency in issue.dependencies:
            if dependency.sort in (BLOCKS, CONDITIONAL_BLOCKS):
                found = _blocked_by(dependency, issues, conditional)
            elif dependency.sort == WAITS_FOR:
                found = _waits_for(dependency, issues, children)
            else:
                continue
            if found:
                waits.setdefault(id, []).extend(found)
    return waits


def _blocked_by(dependency: Dependency, issues: Mapping[str, Issue], conditional: Conditional) -> list[IssueWait]:
    target = issues.get(dependency.depends_on_id)
    if target is None:
        return []
    waits_for_failure = dependency.sort == CONDITIONAL_BLOCKS and conditional is Conditional.ON_FAILURE
    if not target.is_settled:
        why = f"waits for {target.id} to {'fail' if waits_for_failure else 'be closed'}; it is {target.status}"
        return [IssueWait(target.id, not waits_for_failure, why)]
    if waits_for_failure and target.status == "closed" and not _has_failed(target):
        return [IssueWait(target.id, False, f"runs only if {target.id} fails, but that was closed without a failure")]
    return []


def _has_failed(issue: Issue) -> bool:
    reason = issue.close_reason.lower()
    return any(word in reason for word in FAILURE_WORDS)


def _waits_for(
    dependency: Dependency, issues: Mapping[str, Issue], children: Mapping[str, list[str]]
) -> list[IssueWait]:
    ids = children.get(dependency.depends_on_id, ()) if dependency.depends_on_id in issues else ()
    left = [id for id in ids if not issues[id].is_settled]
    if _gate(dependency) != "any-children":
        return [IssueWait(id, True, f"waits for {id}, a child of {dependency.depends_on_id}") for id in left]
    if any(issues[id].status == "closed" for id in ids):
        return []
    return [IssueWait(id, False, f"waits for any child of {dependency.depends_on_id}") for id in left]


def _gate(dependency: Dependency) -> str:
    metadata = dependency.metadata
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            return ""
    gate = metadata.get("gate") if isinstance(metadata, dict) else None
    return gate if isinstance(gate, str) else ""


def blocked(issues: Mapping[str, Issue], conditional: Conditional = Conditional.ON_FAILURE) -> dict[str, str]:
    """Issue → why it is blocked: by its own dependency, or because its parent is blocked."""
    own = {id: waits[0].why for id, waits in direct_waits(issues, conditional).items()}
    above: dict[str, list[str]] = {id: [] for id in own}  # its parents up to one with its own block
    children = children_of(issues)
    spreading = list(own)
    for id in spreading:  # the list grows during the loop
        for child in children.get(id, ()):
            if child not in above:
                above[child] = [id, *above[id]]
                spreading.append(child)
    return {
        id: f"its parent {' '.join(parents)} {own[parents[-1]]}" if parents else own[id]
        for id, parents in above.items()
    }


def put_off(issue: Issue, statuses: Mapping[str, Category]) -> str:
    """Why nobody should work on the issue now, apart from its dependencies; "" if it can be worked on."""
    if statuses.get(issue.status) != "active":
        who = f" ({issue.assignee})" if issue.assignee and issue.status == "in_progress" else ""
        return f"is {issue.status}{who}"
    if issue.pinned:
        return "is pinned"
    if issue.ephemeral or issue.wisp:
        return "is ephemeral"
    if issue.is_template:
        return "is a template"
    if issue.issue_type in NOT_WORK:
        return f"is a {issue.issue_type}"
    return ""


def deferral(issue: Issue, issues: Mapping[str, Issue], now: float) -> str:
    """Until when the issue or its direct parent is deferred; "" if neither is."""
    if is_deferred(issue, now):
        return f"is deferred until {issue.defer_until}"
    for parent in issue.parents:
        if parent in issues and is_deferred(issues[parent], now):
            return f"its parent {parent} is deferred until {issues[parent].defer_until}"
    return ""


def is_deferred(issue: Issue, now: float) -> bool:
    if not issue.defer_until:
        return False
    until = nanoseconds(issue.defer_until)
    # An unreadable time is reported as a problem. Until it is fixed, the issue stays deferred.
    return until is None or until > now * 1e9


def why_not_ready(beads: Beads, now: float, conditional: Conditional = Conditional.ON_FAILURE) -> dict[str, str]:
    """Every issue → the first reason why it is not ready; "" if it is."""
    why_blocked = blocked(beads.issues, conditional)
    return {
        id: put_off(issue, beads.statuses) or deferral(issue, beads.issues, now) or why_blocked.get(id, "")
        for id, issue in beads.issues.items()
    }


def ready(
    beads: Beads,
    now: float,
    conditional: Conditional = Conditional.ON_FAILURE,
    order: ReadyOrder = ReadyOrder.PRIORITY,
) -> list[Issue]:
    """The issues that Beads calls ready, including epics."""
    found = [beads.issues[id] for id, why in why_not_ready(beads, now, conditional).items() if not why]
    return ordered(found, order, now)


def runnable(
    beads: Beads,
    now: float,
    conditional: Conditional = Conditional.ON_FAILURE,
    order: ReadyOrder = ReadyOrder.PRIORITY,
) -> list[Issue]:
    """The issues that may run now: all ready ones except epics, which are done when their children are."""
    return [issue for issue in ready(beads, now, conditional, order) if not issue.is_epic]


def ordered(issues: Iterable[Issue], order: ReadyOrder, now: float) -> list[Issue]:
    def created(issue: Issue) -> int:
        return nanoseconds(issue.created_at) or 0

    def hybrid(issue: Issue) -> tuple[int, int, int, str]:
        is_recent = created(issue) >= now * 1e9 - _RECENT_NS
        return (0 if is_recent else 1, issue.priority if is_recent else 0, created(issue), issue.id)

    if order is ReadyOrder.HYBRID:
        return sorted(issues, key=hybrid)
    if order is ReadyOrder.OLDEST:
        return sorted(issues, key=lambda issue: (created(issue), issue.id))
    return sorted(issues, key=lambda issue: (issue.priority, -created(issue), issue.id))


def finished_epics(beads: Beads) -> list[str]:
    """Open epics whose children are all closed: they are done, but not closed yet."""
    children = children_of(beads.issues)
    return [
        id
        for id, issue in beads.issues.items()
        if issue.is_epic
        and beads.statuses.get(issue.status) in ("active", "wip")
        and not issue.pinned
        and children.get(id)
        and all(beads.issues[child].status == "closed" for child in children[id])
    ]
