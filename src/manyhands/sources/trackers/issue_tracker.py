"""What a place that keeps issues has to offer, so that its issues are worked on as those of Beads are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue import STATUSES, Issue
from manyhands.sources.beads.issue_changes import Change, IssueOutcome


class IssueTracker(Protocol):
    name: str  # of its run, before the number
    source: str  # an absolute path or a URL: how its run is found again
    label: str  # what a problem calls it
    warnings: tuple[Problem, ...]
    look_every_s: float | None  # how often it must be asked; None: its files tell

    def begin(self, holder: str) -> None:
        """Tell it the name under which issues are held."""

    def watched(self) -> Sequence[Path]:
        """The files, or directories of files, to watch for changes."""

    def signature(self) -> object:
        """Equal while nothing has changed; None if only reading tells."""

    def load(self) -> Beads:
        """Its issues now. Raises a ManyhandsError if they cannot be had; one bad issue is a problem in them."""

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        """One outcome each, in order, once all are written."""


def as_beads(file: str, issues: Mapping[str, Issue], problems: Sequence[Problem]) -> Beads:
    """Issues from elsewhere as a Beads backlog would have them."""
    lines = {id: place for place, id in enumerate(issues, 1)}
    return Beads(file, [], dict(issues), lines, frozenset(), STATUSES, list(problems), len(problems), frozenset())
