"""What a Beads backlog holds, and which of its issues may run now."""

import time
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.readers.problems import Problem, Problems, sheet_of_row
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_loading import load
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.beads_ready import Order, runnable
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_kinds import kind_of
from manyhands.sources.beads.issue_tasks import claims_of_metadata, has_file_lists


class Ready(Struct, frozen=True):
    """The issues that may run, in the order of Beads. Epics are left out."""

    tasks: list[dict[str, object]]
    unfinished: int
    closed: int
    warnings: tuple[Problem, ...]  # the file may be old or incomplete
    problems: list[Problem]  # in single issues
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
