"""Changes issues through the `bd` command, for backlogs that are kept in a database.

It runs one command at a time. `bd` has been seen to report success and drop the write, so every change is read back
and repeated until it is there.
"""

import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from manyhands.errors import Unavailable
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.plain_file import read_plain
from manyhands.sources.beads.beads_finding import BeadsPlace
from manyhands.sources.beads.beads_reading import Beads, parse
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_changes import (
    GOAL,
    Block,
    Cancel,
    Change,
    ChangeResult,
    Claim,
    Close,
    Defer,
    IssueOutcome,
    ReleaseIssue,
    close_reason,
    is_already,
    note_of,
    obstacle_to,
)
from manyhands.sources.beads.locking import exclusive
from manyhands.sources.beads.replacing import BYTES_MAX
from manyhands.sources.beads.times import written

_TRIES_MAX = 5
_DELAY_S, _DELAY_MAX_S = 0.1, 5.0
#: An embedded database may be slow to open, but one that hangs must not block us without end.
_COMMAND_TIMEOUT_S = 60.0


class BdError(Unavailable):
    """`bd` is missing, hangs, or gives an answer that cannot be read."""


class BdCommand:
    """A writer for backlogs that are kept in a database."""

    def __init__(
        self,
        place: BeadsPlace,
        program: str = "bd",
        timeout_s: float = _COMMAND_TIMEOUT_S,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._place = place
        self._program = program
        self._timeout_s = timeout_s
        self._pause = pause

    def is_installed(self) -> bool:
        return shutil.which(self._program) is not None

    def read(self) -> Beads:
        """The issues as the database has them, read from an export to a temporary file."""
        with tempfile.TemporaryDirectory() as directory, self._alone():
            file = Path(directory) / "issues.jsonl"
            done = self._call("export", "-o", str(file))
            if done.returncode != 0 or not file.is_file():
                raise BdError(f"`{self._program} export` failed: {_complaint(done)}", "run `bd doctor` to see why")
            return parse(read_plain(file, BYTES_MAX), str(self._place.directory), self._place.statuses)

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        outcomes: list[IssueOutcome] = []
        for change in changes:
            with self._alone():
                outcomes.append(self._apply_one(change))
        return outcomes

    def _alone(self) -> AbstractContextManager[None]:
        # The lock is on the directory: it adds no file there, and `bd` can take its own locks inside.
        return exclusive(self._place.directory, timeout_s=self._timeout_s * _TRIES_MAX)

    def _apply_one(self, change: Change) -> IssueOutcome:
        if change.id.startswith("-") or not is_good_name(change.id):
            return IssueOutcome(change.id, ChangeResult.MISSING, "is not an id that can be passed to a command")
        complaint = ""
        has_written = False
        for attempt in range(_TRIES_MAX):
            if attempt:
                self._pause(min(_DELAY_S * 2 ** (attempt - 1), _DELAY_MAX_S) * random.uniform(0.5, 1.0))
            issue, problem = self._show(change.id)
            if issue is None:
                complaint = problem or complaint
                continue
            if is_already(issue, change):
                return IssueOutcome(
                    change.id, ChangeResult.WRITTEN if has_written else ChangeResult.ALREADY, "", issue.updated_at
                )
            obstacle = obstacle_to(change, issue, self._place.statuses)
            if obstacle and not (has_written and _is_half_done(issue, change)):
                return IssueOutcome(change.id, ChangeResult.REFUSED, obstacle, issue.updated_at)
            complaint = self._write(change, issue) or complaint
            has_written = True
        issue, problem = self._show(change.id)
        if issue is not None and is_already(issue, change):
            return IssueOutcome(change.id, ChangeResult.WRITTEN, "", issue.updated_at)
        if issue is None and problem and not has_written:
            return IssueOutcome(change.id, ChangeResult.MISSING, problem)
        why = f"`{self._program}` did not write the change in {_TRIES_MAX} tries: {complaint or 'it reports success'}"
        return IssueOutcome(change.id, ChangeResult.REFUSED, why, issue.updated_at if issue else "")

    def _show(self, id: str) -> tuple[Issue | None, str]:
        """The issue as the database has it, or the reason why it cannot be shown."""
        done = self._call("show", id, "--json")
        if done.returncode != 0:
            return None, _complaint(done)
        try:
            answer = unwrapped(json.loads(done.stdout))
        except ValueError:
            return None, f"gave an answer that is not JSON: {done.stdout[:60]!r}"
        rows = answer if isinstance(answer, list) else [answer]
        row = next((row for row in rows if isinstance(row, dict) and row.get("id") == id), None)
        if row is None:
            return None, f"has no issue {id}"
        # Dependencies have another form here than in the file, and are not needed.
        given = {name: value for name, value in row.items() if name != "dependencies" and value is not None}
        try:
            return msgspec.convert(given, Issue), ""
        except msgspec.ValidationError as error:
            return None, f"gave an issue that cannot be read: {error}"

    def _write(self, change: Change, issue: Issue) -> str:
        """Write what is missing; return the error message of `bd`, or ""."""
        for arguments in commands_for(change, issue):
            done = self._call(*arguments, actor=change.holder)
            if done.returncode != 0:
                return _complaint(done)
        return ""

    def _call(self, *arguments: str, actor: str = "") -> "subprocess.CompletedProcess[str]":
        env = os.environ | ({"BD_ACTOR": actor, "BEADS_ACTOR": actor} if actor else {})
        command = [self._program, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=self._place.directory.parent,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self._timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            # Treated as an answer, so that we read back and try again: the write may have happened.
            return subprocess.CompletedProcess(command, 124, "", f"no answer within {self._timeout_s:g} s")
        except OSError as error:
            hint = "install Beads: these issues are in a database, and only `bd` may write to it"
            raise BdError(f"cannot run `{self._program}`: {error.strerror}", hint) from error


def _is_half_done(issue: Issue, change: Change) -> bool:
    """Whether we made the change but its note was dropped: then our own change is in the way."""
    return issue.status == GOAL[type(change)] and issue.assignee in ("", change.holder)


def commands_for(change: Change, issue: Issue) -> list[list[str]]:
    """The commands for a change. Texts follow their option after `=`, so that a text may begin with a dash."""
    note = note_of(change)
    commands: list[list[str]] = []
    if note and note not in issue.notes:
        commands.append(["update", change.id, f"--append-notes={note}"])
    is_closed_so = isinstance(change, Close | Cancel) and issue.close_reason == close_reason(change)
    if is_closed_so or (isinstance(change, Block) and issue.status == "blocked"):
        return commands
    match change:
        case Claim():
            if issue.status in ("closed", "deferred"):
                commands.append(["update", change.id, "-s", "open"])
            commands.append(["update", change.id, "--claim"])
        case Close() | Cancel():
            commands.append(["close", change.id, f"--reason={close_reason(change)}"])
        case Block():
            commands.append(["update", change.id, "-s", "blocked"])
        case Defer():
            until = [] if change.until is None else [f"--defer={written(int(change.until * 1e9))}"]
            assignee = ["--assignee="] if issue.assignee == change.holder else []
            commands.append(["update", change.id, "-s", "deferred", *until, *assignee])
        case ReleaseIssue():
            commands.append(["update", change.id, "-s", "open", "--assignee="])
    return commands


def unwrapped(answer: Any) -> Any:
    """The content of an answer. Later versions of `bd` put an envelope around it."""
    if isinstance(answer, dict) and "schema_version" in answer and "data" in answer:
        return answer["data"]
    return answer


def _complaint(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
