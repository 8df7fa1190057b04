"""A directory of Markdown files as a backlog: each file is an issue, and its front matter says how it stands."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from manyhands.errors import BacklogError, Unavailable
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_changes import Change, ChangeResult, IssueOutcome, note_of, patch_for
from manyhands.sources.beads.replacing import replace_unless_changed, take
from manyhands.sources.trackers.issue_tracker import as_beads
from manyhands.sources.trackers.markdown_file import WORD_OF, BadFrontMatter, issue_of, with_fields

#: Larger files are not tasks.
_BYTES_MAX = 1_000_000
#: Each retry means that someone saved the file at that moment.
_TRIES_MAX = 20


class MarkdownTracker:
    look_every_s: float | None = None
    warnings: tuple[Problem, ...] = ()

    def __init__(self, directory: Path) -> None:
        if not directory.is_dir():
            raise BacklogError(
                f"there is no directory `{directory}`", "name a directory of Markdown files, one for each task"
            )
        self.directory = directory.resolve()
        self.name = self.directory.name if is_good_name(self.directory.name) else "markdown"
        self.source = f"{self.directory}/"
        self.label = str(directory)

    def begin(self, holder: str) -> None:
        pass  # files say who holds them

    def watched(self) -> Sequence[Path]:
        return [self.directory]

    def signature(self) -> object:
        return tuple((file.name, found.st_ino, found.st_size, found.st_mtime_ns) for file, found in self._files())

    def load(self) -> Beads:
        issues: dict[str, Issue] = {}
        problems: list[Problem] = []
        for file, found in self._files():
            try:
                if found.st_size > _BYTES_MAX:
                    raise BadFrontMatter(f"it has more than {_BYTES_MAX:,} bytes")
                if not is_good_name(file.stem):
                    raise BadFrontMatter("its name cannot be the name of a task; use letters, digits and dashes")
                snapshot = take(file)
                issues[file.stem] = issue_of(file.stem, snapshot.raw.decode(), snapshot.mtime_ns)
            except (BadFrontMatter, UnicodeDecodeError, Unavailable) as error:
                problems.append(Problem(file=str(file), message=str(error), hint="other files are not concerned"))
        return as_beads(self.label, issues, problems)

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        return [self._apply(change) for change in changes]

    def _apply(self, change: Change) -> IssueOutcome:
        file = self.directory / f"{change.id}.md"
        if not file.is_file():
            return IssueOutcome(change.id, ChangeResult.MISSING, "no longer has a file")
        for _ in range(_TRIES_MAX):
            snapshot = take(file)
            try:
                text = snapshot.raw.decode()
                issue = issue_of(change.id, text, snapshot.mtime_ns)
                patch = patch_for(issue, change, time.time_ns())
                if isinstance(patch, IssueOutcome):
                    return patch
                fields = {"status": WORD_OF[patch["status"]], "by": patch.get("assignee", issue.assignee)}
                fields["note"] = note_of(change)
                changed = with_fields(text, fields).encode()
            except (BadFrontMatter, UnicodeDecodeError) as error:
                return IssueOutcome(change.id, ChangeResult.REFUSED, f"cannot be written: {error}")
            if replace_unless_changed(file, snapshot, changed):
                return IssueOutcome(change.id, ChangeResult.WRITTEN)
        raise Unavailable(f"`{file}` is saved again all the time", "close the program that does it")

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        """The files in the order of their names. README and hidden files are for people."""
        found: list[tuple[Path, os.stat_result]] = []
        for file in sorted(self.directory.glob("*.md")):
            if file.name.startswith((".", "_")) or file.stem.lower() == "readme":
                continue
            try:
                found.append((file, file.stat()))
            except OSError:  # it was just removed
                continue
        return found
