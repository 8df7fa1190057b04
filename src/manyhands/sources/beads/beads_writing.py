"""Changes a Beads file that others read and write too: only the lines of our issues change.

Under the lock of Beads, the file is read again, patched and replaced in one step. If a program ignores the lock and
replaces the file meanwhile, we notice it just before our own replacement, and no change of either side is lost.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from manyhands.errors import BacklogError, Unavailable
from manyhands.readers.text import BOM
from manyhands.sources.beads.beads_finding import BeadsPlace
from manyhands.sources.beads.beads_reading import Beads, parse
from manyhands.sources.beads.duplicate_ids import is_newer
from manyhands.sources.beads.go_json import patched
from manyhands.sources.beads.issue import Category, Issue
from manyhands.sources.beads.issue_changes import Change, ChangeResult, IssueOutcome, patch_for
from manyhands.sources.beads.locking import LOCK_NAME, exclusive_in_turn
from manyhands.sources.beads.replacing import remove_leftovers, replace_unless_changed, take

#: Each retry means that another program replaced the file within a few milliseconds.
_TRIES_MAX = 20


class BeadsFile:
    """A writer for backlogs that are kept in the file itself."""

    def __init__(self, place: BeadsPlace, now_ns: Callable[[], int] = time.time_ns) -> None:
        if place.file is None:
            raise BacklogError(f"`{place.directory}` has no file to write to", "write it with the `bd` command")
        # If the file is a link, its target is replaced. The lock stays where other programs look for it.
        self._file = place.file.resolve()
        self._lock = place.directory / LOCK_NAME
        self._statuses = place.statuses
        self._now_ns = now_ns
        self._has_cleaned = False

    def apply(self, changes: Sequence[Change]) -> list[IssueOutcome]:
        with exclusive_in_turn(self._lock):
            if not self._has_cleaned:
                remove_leftovers(self._file)
                self._has_cleaned = True
            before: list[bytes] = []
            for _ in range(_TRIES_MAX):
                found = take(self._file)
                lines = found.raw.split(b"\n")
                if before:
                    lines = merged(before, lines)
                before = list(lines)
                outcomes = _apply_to(lines, changes, self._now_ns(), self._statuses)
                raw = b"\n".join(lines)
                if raw == found.raw or replace_unless_changed(self._file, found, raw):
                    return outcomes
        raise Unavailable(
            f"a program that ignores the lock of `{self._file}` replaces the file all the time",
            "stop that program, or make the changes through it",
        )


def _apply_to(
    lines: list[bytes], changes: Sequence[Change], now_ns: int, statuses: Mapping[str, Category]
) -> list[IssueOutcome]:
    """Apply the changes to `lines` in place; return the outcomes."""
    outcomes: list[IssueOutcome] = []
    for change in changes:
        place, issue = _find(lines, change.id)
        if issue is None:
            outcomes.append(
                IssueOutcome(change.id, ChangeResult.MISSING, "is not in the file, or its line cannot be read")
            )
            continue
        patch = patch_for(issue, change, now_ns, statuses)
        if isinstance(patch, IssueOutcome):
            outcomes.append(patch)
        else:
            lines[place] = patched(lines[place], patch)
            outcomes.append(IssueOutcome(change.id, ChangeResult.WRITTEN, "", patch["updated_at"]))
    return outcomes


class _Head(msgspec.Struct):
    id: str = ""
    updated_at: str = ""


_decode_head = msgspec.json.Decoder(_Head).decode


def _head_of(line: bytes) -> _Head:
    line = line.removeprefix(BOM)
    try:
        return _decode_head(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        row = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return _Head()
    if not isinstance(row, dict):
        return _Head()
    texts = {name: row[name] for name in ("id", "updated_at") if isinstance(row.get(name), str)}
    return _Head(**texts)


def _find(lines: list[bytes], id: str) -> tuple[int, Issue | None]:
    """The line that counts for this id, chosen as a reader does."""
    # Decoding every line takes a hundred times as long as searching the lines for the id.
    token = json.dumps(id, ensure_ascii=False).encode(errors="replace")
    places = [i for i, line in enumerate(lines) if token in line and _head_of(line).id == id]
    if not places:  # the id may be written with escapes
        places = [i for i, line in enumerate(lines) if line.strip() and _head_of(line).id == id]
    if not places:
        return -1, None
    own = parse(b"\n".join(lines[i] for i in places), "")
    issue = own.issues.get(id)
    return (places[own.line_of[id] - 1], issue) if issue is not None else (-1, None)


def merged(ours: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Their lines, with ours where ours is newer or theirs is missing: a stale copy must not undo our changes.

    A deleted issue leaves a tombstone in the file. So if their file lacks a line, they had never seen it.
    """
    place_of: dict[str, int] = {}
    heads = [_head_of(line) for line in theirs]
    for place, head in enumerate(heads):
        if head.id:
            known = place_of.get(head.id)
            if known is None or is_newer(head.updated_at, heads[known].updated_at) is not False:
                place_of[head.id] = place
    result = list(theirs)
    missing: list[bytes] = []
    for line in ours:
        head = _head_of(line)
        if not head.id:
            continue
        theirs_at = place_of.get(head.id)
        if theirs_at is None:
            missing.append(line)
        elif is_newer(head.updated_at, heads[theirs_at].updated_at):
            result[theirs_at] = line
            heads[theirs_at] = head
    if missing:
        is_ended = bool(result) and result[-1] == b""
        result = [*result[:-1], *missing, b""] if is_ended else [*result, *missing]
    return result


def overwritten(beads: Beads, written_at: Mapping[str, str]) -> list[str]:
    """The issues we have written (id → `updated_at` of the outcome) that have an older state in the file.

    A program that ignores the lock has written back what it read before. The changes must be applied again.
    """
    return [
        id
        for id, at in written_at.items()
        if id not in beads.tombstones and (id not in beads.issues or is_newer(at, beads.issues[id].updated_at) is True)
    ]
