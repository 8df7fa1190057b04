"""What a backlog of Beads holds and what of it may run now."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.beads.finding import find
from manyhands.beads.kinds import kind_of
from manyhands.beads.loading import load
from manyhands.beads.reading import Beads
from manyhands.beads.ready import Order, runnable
from manyhands.beads.record import Issue
from manyhands.beads.tasks import claims_of_metadata, has_file_lists
from manyhands.inputs.problems import Problem, Problems, sheet_of_row


class Ready(Struct, frozen=True):
    """In the order in which Beads lists it; epics are left out."""

    tasks: list[dict[str, object]]
    unfinished: int
    closed: int
    warnings: tuple[Problem, ...]  # what is read may be old, or not all there is
    problems: list[Problem]  # of single issues
    problems_total: int


def ready_in(directory: Path, order: Order = Order.PRIORITY) -> Ready:
    place = find(directory)
    beads = load(place)
    problems = Problems()
    rows = [_row(issue, beads, problems) for issue in runnable(beads, time.time(), order=order)]
    closed = sum(issue.status == "closed" for issue in beads.issues.values())
    return Ready(
        tasks=rows,
        unfinished=len(beads.issues) - closed,
        closed=closed,
        warnings=place.warnings,
        problems=[*beads.problems, *problems.kept],
        problems_total=beads.problems_total + problems.total,
    )


def _row(issue: Issue, beads: Beads, problems: Problems) -> dict[str, object]:
    sheet = sheet_of_row(beads.file, beads.line_of[issue.id], problems)
    claims = claims_of_metadata(issue.metadata, sheet) if has_file_lists(issue.metadata) else None
    return {
        "task": issue.id,
        "title": issue.title,
        "priority": issue.priority,
        "kind": kind_of(issue),
        "type": issue.issue_type,
        "labels": issue.labels,
        "parent": next(iter(issue.parents), None),
        "claims": msgspec.to_builtins(claims),
        "created_at": issue.created_at,
    }
