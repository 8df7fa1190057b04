"""What a backlog of issues holds, and which of them may run now."""

import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.apps.serve.beads_rules import BeadsRules, rules_for, rules_of
from manyhands.apps.serve.tracker_opening import open_tracker
from manyhands.core.starting_order import starting_order
from manyhands.core.values.task import Task
from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_finding import find
from manyhands.sources.beads.beads_loading import load
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_tasks import tasks_of
from manyhands.sources.config.config_types import BacklogConfig, Config


class Ready(Struct, frozen=True):
    """The issues that may run, in the order in which they would start. Epics are left out."""

    tasks: list[dict[str, object]]
    unfinished: int
    closed: int
    warnings: tuple[Problem, ...]  # the file may be old or incomplete
    problems: list[Problem]  # in single issues
    problems_total: int


def ready_in(directory: Path, config: Config) -> Ready:
    """Kinds and claims are those that `serve` would give the tasks, and so is their order."""
    place = find(directory)
    return _ready(load(place), rules_for(directory, config), place.warnings)


def ready_elsewhere(row: BacklogConfig, config: Config) -> Ready:
    """Of GitHub issues or Markdown files."""
    tracker = open_tracker(row, config.workspace, os.environ)
    return _ready(tracker.load(), rules_of(row), tracker.warnings)


def _ready(beads: Beads, rules: BeadsRules, warnings: tuple[Problem, ...]) -> Ready:
    found = tasks_of(beads, time.time(), like=rules.like, kinds=rules.kinds, conditional=rules.conditional)
    rows = [_row(task, beads.issues[task.id]) for task in starting_order(found.tasks)]
    closed = sum(issue.status == "closed" for issue in beads.issues.values())
    return Ready(
        tasks=rows,
        unfinished=len(beads.issues) - closed,
        closed=closed,
        warnings=warnings,
        problems=[*beads.problems, *found.problems],
        problems_total=beads.problems_total + len(found.problems),
    )


def _row(task: Task, issue: Issue) -> dict[str, object]:
    return {
        "task": task.id,
        "title": task.title,
        "priority": task.priority,
        "kind": task.kind,
        "type": issue.issue_type,
        "labels": issue.labels,
        "parent": task.parent or None,
        "claims": msgspec.to_builtins(task.claims),
        "created_at": issue.created_at,
    }
