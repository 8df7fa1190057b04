"""Finds problems of single issues and of all issues together. Wrong values are reported and read as harmless ones."""

from collections.abc import Mapping

from msgspec.structs import replace

from manyhands.core.graph import cycles
from manyhands.readers.problems import Problem, Problems, Sheet, did_you_mean, value_text
from manyhands.sources.beads.issue import (
    BLOCKING,
    BLOCKS,
    CONDITIONAL_BLOCKS,
    PRIORITY_DEFAULT,
    TITLE_MAX,
    TOMBSTONE,
    WAITS_FOR,
    Category,
    Issue,
)
from manyhands.sources.beads.times import nanoseconds

_TIMES = ("created_at", "updated_at", "defer_until")


def examine(issue: Issue, sheet: Sheet, statuses: Mapping[str, Category]) -> Issue:
    """Report problems of the issue; return it as we use it."""
    if not issue.title:
        sheet.tell(("title",), f"issue {value_text(issue.id)} has no `title`", "Beads refuses it; give it a title")
    elif len(issue.title) > TITLE_MAX:
        sheet.wrong(("title",), issue.title, f"must be at most {TITLE_MAX} characters long, has {len(issue.title):,}")
    if not 0 <= issue.priority <= 4:
        _tell_priority(issue, sheet)
        issue = replace(issue, priority=PRIORITY_DEFAULT)
    if issue.status not in statuses and issue.status != TOMBSTONE:
        hint = did_you_mean(issue.status, statuses) or f"the statuses are {', '.join(statuses)}"
        message = (
            f"`status` {value_text(issue.status)} is unknown: the issue is not ready, and issues that need it wait"
        )
        sheet.tell(("status",), message, hint, issue.status)
    if (issue.status == "closed") != bool(issue.closed_at) and issue.status != TOMBSTONE:
        rule = "is missing from a closed issue" if not issue.closed_at else f"is set on an issue that is {issue.status}"
        sheet.tell(("closed_at",), f"`closed_at` {rule}", "the status is used", issue.closed_at or None)
    for name in _TIMES:
        text = getattr(issue, name)
        if text and nanoseconds(text) is None:
            sheet.wrong((name,), text, "must be a point in time", 'write it like "2026-01-31T12:00:00Z"')
    for place, dependency in enumerate(issue.dependencies):
        if dependency.issue_id and dependency.issue_id != issue.id:
            path = ("dependencies", place, "issue_id")
            sheet.wrong(path, dependency.issue_id, f"should be {value_text(issue.id)}", "it is read as this issue")
    return issue


def _tell_priority(issue: Issue, sheet: Sheet) -> None:
    if issue.priority == -1:
        sheet.tell(
            ("priority",), f"issue {value_text(issue.id)} has no `priority`", f"it is read as {PRIORITY_DEFAULT}"
        )
    else:
        rule = "must be 0, 1, 2, 3 or 4"
        sheet.wrong(("priority",), issue.priority, rule, f"it is read as {PRIORITY_DEFAULT}")


def examine_together(
    file: str, issues: Mapping[str, Issue], line_of: Mapping[str, int], tombstones: frozenset[str], problems: Problems
) -> set[str]:
    """Report dependencies that lead nowhere or in a circle; return the issues on such circles."""
    for issue in issues.values():
        if issue.is_settled:
            continue
        for dependency in issue.dependencies:
            target = dependency.depends_on_id
            if target in issues or target in tombstones or dependency.sort not in BLOCKING:
                continue
            if not target.startswith("external:"):
                problems.add(
                    Problem(
                        file=file,
                        line=line_of[issue.id],
                        field="dependencies",
                        value=value_text(target),
                        message=f"{value_text(issue.id)} depends on {value_text(target)}, which does not exist",
                        hint="the dependency is ignored; remove it or correct the id",
                    )
                )
    circular: set[str] = set()
    for circle in cycles(_waits(issues)):
        ids = list(dict.fromkeys(node[1:] for node in circle))
        circular.update(ids)
        ring = [*ids, ids[0]]
        if len(ring) > 12:
            ring = [*ring[:6], f"… {len(ids) - 8} more …", *ring[-3:]]
        problems.add(
            Problem(
                file=file,
                line=line_of[ids[0]],
                field="dependencies",
                value=value_text(ids[0]),
                message=f"issues wait for each other: {' → '.join(ring)}",
                hint="remove one of these dependencies",
            )
        )
    return circular


def _waits(issues: Mapping[str, Issue]) -> dict[str, list[str]]:
    """Which open issues wait for which. The start (`>id`) and the end (`.id`) of each issue are separate.

    A child may start only when its parent may, and an epic ends only with its children. With one entry for both, an
    epic and its children would always be a circle.
    """
    waits: dict[str, list[str]] = {}
    unsettled = {id: issue for id, issue in issues.items() if not issue.is_settled}
    for id in unsettled:
        waits[f".{id}"] = [f">{id}"]
        waits[f">{id}"] = []
    children: dict[str, list[str]] = {}
    for id, issue in unsettled.items():
        for parent in issue.parents:
            waits[f">{id}"].append(f">{parent}")
            children.setdefault(parent, []).append(id)
            if parent in unsettled and unsettled[parent].is_epic:
                waits[f".{parent}"].append(f".{id}")
    for id, issue in unsettled.items():
        for dependency in issue.dependencies:
            if dependency.sort in (BLOCKS, CONDITIONAL_BLOCKS):
                waits[f">{id}"].append(f".{dependency.depends_on_id}")
            elif dependency.sort == WAITS_FOR:
                waits[f">{id}"] += [f".{child}" for child in children.get(dependency.depends_on_id, ())]
    return waits
