"""GitHub issues as a backlog: a label brings them in, and labels, a comment and the state say how they stand."""

import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import quote

import msgspec
from msgspec import Struct

from manyhands.readers.problems import Problem
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_changes import (
    Block,
    Cancel,
    Change,
    ChangeResult,
    Claim,
    Close,
    Defer,
    IssueOutcome,
    ReleaseIssue,
    obstacle_to,
    shortened,
)
from manyhands.sources.beads.times import nanoseconds, written
from manyhands.sources.trackers.github_api import PER_PAGE, GithubApi, RequestRefused
from manyhands.sources.trackers.issue_tracker import as_beads

LOOK_EVERY_S = 30.0
_ID = "issue-"
_PRIORITY = re.compile(r"(?:p|priority[:/ -]?)([0-4])", re.IGNORECASE)


class _Label(Struct):
    name: str = ""


class _GithubIssue(Struct):
    number: int
    title: str = ""
    body: str | None = None
    state: str = "open"
    updated_at: str = ""
    labels: list[_Label] = []
    pull_request: Any = None


class GithubTracker:
    look_every_s: float | None = LOOK_EVERY_S
    warnings: tuple[Problem, ...] = ()

    def __init__(self, api: GithubApi, repository: str, label: str, url: str) -> None:
        self.name = repository.partition("/")[2]
        self.source = f"{url.rstrip('/')}/repos/{repository}?label={quote(label)}"
        self.label = f"{repository} label {label}"
        self._api = api
        self._wanted = label
        self._working, self._failed, self._deferred = f"{label}:working", f"{label}:failed", f"{label}:deferred"
        self._holder = ""

    def begin(self, holder: str) -> None:
        self._holder = holder

    def watched(self) -> Sequence[Path]:
        return []

    def signature(self) -> object:
        return None

    def load(self) -> Beads:
        issues: dict[str, Issue] = {}
        problems: list[Problem] = []
        path = f"/issues?labels={quote(self._wanted)}&state=open&sort=created&direction=asc&per_page={PER_PAGE}"
        for row in self._api.pages(path):
            try:
                found = msgspec.convert(row, _GithubIssue)
            except msgspec.ValidationError as error:
                number = row.get("number", "?")
                problems.append(Problem(file=self.label, message=f"issue {number} cannot be read: {error}"))
                continue
            if found.pull_request is None:
                issue = self._issue(found)
                issues[issue.id] = issue
        return as_beads(self.label, issues, problems)

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        return [self._apply(change) for change in changes]

    def _issue(self, found: _GithubIssue) -> Issue:
        names = [label.name for label in found.labels]
        status = "open"
        if found.state != "open":
            status = "closed"
        elif self._failed in names:
            status = "blocked"
        elif self._deferred in names:
            status = "deferred"
        elif self._working in names:
            status = "in_progress"
        elif self._wanted not in names:
            status = "closed"  # nobody wants it any more
        priority = next((int(said[1]) for name in names if (said := _PRIORITY.fullmatch(name))), 2)
        at_ns = (nanoseconds(found.updated_at) or 0) - int(self._api.clock_ahead_s * 1e9)
        return Issue(
            f"{_ID}{found.number}",
            title=found.title,
            description=found.body or "",
            status=status,
            priority=priority,
            assignee=self._holder if status in ("in_progress", "blocked") else "",
            updated_at=written(max(0, at_ns)),
            labels=tuple(name for name in names if not name.startswith(f"{self._wanted}:")),
        )

    def _apply(self, change: Change) -> IssueOutcome:
        number = change.id.removeprefix(_ID)
        try:
            issue = self._issue(msgspec.convert(self._api.get(f"/issues/{number}"), _GithubIssue))
            if obstacle := obstacle_to(change, issue):
                return IssueOutcome(change.id, ChangeResult.REFUSED, obstacle)
            self._write(change, number)
        except RequestRefused as refused:
            return IssueOutcome(change.id, ChangeResult.REFUSED, f"cannot be changed: {refused}")
        except msgspec.ValidationError as error:
            return IssueOutcome(change.id, ChangeResult.MISSING, f"cannot be read: {error}")
        return IssueOutcome(change.id, ChangeResult.WRITTEN)

    def _write(self, change: Change, number: str) -> None:
        """Each step may be repeated after a crash. What tells that all of it was done comes last."""
        match change:
            case Claim():
                self._set_label(number, self._working)
            case Close():
                self._comment(number, "Done", change.summary, change.holder)
                self._set_label(number, "")
                self._api.send("PATCH", f"/issues/{number}", {"state": "closed", "state_reason": "completed"})
            case Block():
                self._comment(number, "Failed", change.error, change.holder)
                self._set_label(number, self._failed)
            case Cancel():
                self._comment(number, "Cancelled", change.why, change.holder)
                self._set_label(number, self._failed)
            case Defer():
                self._set_label(number, self._deferred)
            case ReleaseIssue():
                self._set_label(number, "")
            case _:
                assert_never(change)

    def _set_label(self, number: str, wanted: str) -> None:
        """Of our own labels, this one and no other."""
        if wanted:
            self._api.send("POST", f"/issues/{number}/labels", {"labels": [wanted]})
        for other in (self._working, self._failed, self._deferred):
            if other != wanted:
                with suppress(RequestRefused):  # it does not have that one
                    self._api.send("DELETE", f"/issues/{number}/labels/{quote(other, safe='')}")

    def _comment(self, number: str, heading: str, text: str, holder: str) -> None:
        """Once, however often it is tried: the comment has a mark that is looked for first."""
        quoted = fenced(shortened(text)) if text.strip() else ""
        body = f"**{heading}** by manyhands.\n\n{quoted}".strip()
        mark = f"<!-- {holder} {heading.lower()} {sha256(quoted.encode()).hexdigest()[:12]} -->"
        for comment in self._api.pages(f"/issues/{number}/comments?per_page={PER_PAGE}"):
            if mark in str(comment.get("body", "")):
                return
        self._api.send("POST", f"/issues/{number}/comments", {"body": f"{body}\n\n{mark}"})


def fenced(text: str) -> str:
    """The text as code: nobody is mentioned by it, and nothing in it is formatted."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
