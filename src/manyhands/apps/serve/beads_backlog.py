"""A Beads backlog as a live one."""

from collections.abc import Sequence
from pathlib import Path

from manyhands.apps.serve.beads_rules import DEFAULT_RULES, BeadsRules
from manyhands.apps.serve.issue_backlog import IssueBacklog
from manyhands.apps.serve.plan_backlog import signature_of
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_finding import BeadsPlace, Mode, find
from manyhands.sources.beads.beads_loading import load, writer_for
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue_changes import BacklogWriter, Change, IssueOutcome

#: Beside a database: what `bd` writes when an issue changes. If it does not, the slow full look finds the change.
_WRITTEN_BY_BD = ("interactions.jsonl", "last-touched", "export-state.json")


class BeadsTracker:
    look_every_s: float | None = None

    def __init__(self, path: Path, program: str = "bd") -> None:
        self.place: BeadsPlace = find(path)
        directory = self.place.directory.resolve()
        self.name = directory.parent.name if is_good_name(directory.parent.name) else "beads"
        self.source = str(directory)
        self.label = self.place.name
        self.warnings: tuple[Problem, ...] = self.place.warnings
        self._program = program
        self._writer: BacklogWriter = writer_for(self.place, program)

    def begin(self, holder: str) -> None:
        pass  # issues say who holds them

    def watched(self) -> Sequence[Path]:
        file = (self.place.file or self.place.directory / "issues.jsonl").absolute()
        beside = [file.parent / name for name in _WRITTEN_BY_BD] if self.place.mode is Mode.BD else []
        return list(dict.fromkeys((file, file.resolve(), *beside)))

    def signature(self) -> object:
        # The export of a database does not show changes, so the database is asked every time.
        return signature_of(self.place.file) if self.place.file and self.place.mode is Mode.FILE else None

    def load(self) -> Beads:
        return load(self.place, self._program)

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        return self._writer.apply(changes)


class BeadsBacklog(IssueBacklog):
    claims_hint = (
        "list the files of an issue in its metadata, as `files`, or write `claims = {}` in [[backlogs]] if such issues"
        " touch nothing"
    )

    def __init__(
        self,
        path: Path,
        weight: float = 1.0,
        rules: BeadsRules = DEFAULT_RULES,
        store: Path | None = None,
        program: str = "bd",
    ) -> None:
        tracker = BeadsTracker(path, program)
        super().__init__(tracker, weight, rules, store)
        self.place = tracker.place
