"""`manyhands backlog`: what a backlog of Beads holds and what of it may run now."""

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from manyhands.beads.finding import Place, find
from manyhands.beads.kinds import kind_of
from manyhands.beads.loading import load
from manyhands.beads.reading import Beads
from manyhands.beads.ready import Order, runnable
from manyhands.beads.record import Issue
from manyhands.beads.tasks import claims_of_metadata, has_file_lists
from manyhands.cli.output import Output, print_rows, say
from manyhands.inputs.problems import LISTED_MAX, Problem, Problems, sheet_of_row


def print_ready(directory: Path, output: Output, order: Order = Order.PRIORITY) -> None:
    """What may run now, in the order in which Beads lists it; epics are left out."""
    place = find(directory)
    beads = load(place)
    problems = Problems()
    rows = [_row(issue, beads, problems) for issue in runnable(beads, time.time(), order=order)]
    _say_warnings(place)
    _say_problems([*beads.problems, *problems.kept], beads.problems_total + problems.total)
    if output is not Output.TABLE:
        print_rows(rows, output, "task")
        return
    columns = ("task", "priority", "kind", "type", "title")
    print_rows([{name: row[name] for name in columns} for row in rows], output, "task")
    closed = sum(issue.status == "closed" for issue in beads.issues.values())
    sys.stdout.write(f"{len(rows)} ready of {len(beads.issues) - closed} unfinished · closed {closed}\n")


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


def _say_warnings(place: Place) -> None:
    _say(place.warnings)


def _say_problems(problems: list[Problem], total: int) -> None:
    _say(problems[:LISTED_MAX])
    if total > LISTED_MAX:
        say(f"… and {total - LISTED_MAX} more ({total} problems in all)")


def _say(problems: Iterable[Problem]) -> None:
    for problem in problems:
        line = f" line {problem.line}" if problem.line else ""
        say(f"warning: `{problem.file}`{line}: {problem.message}")
        if problem.hint:
            say(f"hint: {problem.hint}")
