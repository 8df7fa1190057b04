"""Turns the lines of a Beads file into issues, and reports every problem with its line number.

The file is not refused as a whole: valid issues can be used, and invalid ones are named.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from manyhands.readers.problems import Problem, Problems, Sheet, sheet_of_row, value_text
from manyhands.readers.text import BOM, not_utf8
from manyhands.sources.beads.duplicate_ids import DuplicateIds
from manyhands.sources.beads.go_json import whole_texts
from manyhands.sources.beads.issue import STATUSES, TOMBSTONE, Category, Dependency, Issue
from manyhands.sources.beads.issue_checks import examine, examine_together

_decode_issue = msgspec.json.Decoder(Issue).decode
_FIELD_TYPES = get_type_hints(Issue)
#: A row with two of these is an issue, even if incomplete. With fewer it is something else and must not run as work.
_TELLTALE = frozenset({"title", "status", "priority", "issue_type", "created_at"})
_NOT_AN_ISSUE_HINT = "a Beads issue has an id, a title, a status and a priority"


class Beads(Struct, frozen=True):
    """The state of a backlog on disk at one moment."""

    file: str
    lines: list[bytes]  # all lines, without their line ends
    issues: dict[str, Issue]  # in the order of the file, without tombstones
    line_of: dict[str, int]
    tombstones: frozenset[str]
    statuses: Mapping[str, Category]
    problems: list[Problem]  # the first problems; `problems_total` counts all
    problems_total: int
    circular: frozenset[str]  # issues that wait for themselves in a circle and so never become ready

    def fields(self, id: str) -> dict[str, Any]:
        """Every field of the issue, including unknown ones."""
        found: dict[str, Any] = json.loads(self.lines[self.line_of[id] - 1].removeprefix(BOM).decode(errors="replace"))
        return found


def parse(raw: bytes, file: str, statuses: Mapping[str, Category] = STATUSES) -> Beads:
    """`statuses` are those of `known_statuses`: the built-in ones and those the project added."""
    problems = Problems()
    lines = raw.split(b"\n")
    doubles = DuplicateIds(file, problems)
    foreign: list[tuple[int, str]] = []
    issues: dict[str, Issue] = {}
    line_of: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or doubles.is_marker(line, number):
            continue
        found = _issue_of(
            line.removeprefix(BOM) if number == 1 else line, sheet_of_row(file, number, problems), statuses
        )
        if isinstance(found, str):
            foreign.append((number, found))
        elif found is not None:
            known = issues.get(found.id)
            if known is None or doubles.takes_over(known, line_of[found.id], found, number, lines):
                issues[found.id] = found
                line_of[found.id] = number
    doubles.tell()
    _tell_foreign(file, foreign, bool(issues), problems)
    tombstones = frozenset(id for id, issue in issues.items() if issue.status == TOMBSTONE)
    living = {id: issue for id, issue in issues.items() if id not in tombstones} if tombstones else issues
    circular = examine_together(file, living, line_of, tombstones, problems)
    problems.kept.sort(key=lambda problem: problem.line)
    return Beads(file, lines, living, line_of, tombstones, statuses, problems.kept, problems.total, frozenset(circular))


def _issue_of(line: bytes, sheet: Sheet, statuses: Mapping[str, Category]) -> Issue | str | None:
    """The issue on this line. None: there is none, and problems are reported. Text: fields of a row that is not one."""
    try:
        issue = _decode_issue(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _salvaged(line, sheet, statuses)
    if not issue.title or issue.priority == -1:  # other rows can decode too, because only the id is required
        return _salvaged(line, sheet, statuses)
    return examine(issue, sheet, statuses)


def _salvaged(line: bytes, sheet: Sheet, statuses: Mapping[str, Category]) -> Issue | str | None:
    row = _row_of(line, sheet)
    if row is None:
        return None
    if "_schema" in row or row.get("_type", "issue") != "issue":
        return None  # an export header, a memory, or another row type of later versions
    if len(_TELLTALE & row.keys()) < 2:
        return ", ".join(list(row)[:6])
    fields: dict[str, Any] = {}
    for name, value in row.items():
        if name in _FIELD_TYPES and value is not None:
            sound = _dependencies(value, sheet) if name == "dependencies" else _sound(name, value, sheet)
            if sound is not None:
                fields[name] = sound
    if not fields.get("id"):
        if row.get("id") in (None, ""):
            sheet.tell(("id",), "the issue has no `id`", _NOT_AN_ISSUE_HINT)
        return None
    return examine(Issue(**fields), sheet, statuses)


def _row_of(line: bytes, sheet: Sheet) -> dict[str, Any] | None:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        sheet.problems.add(not_utf8(sheet.file, sheet.line_of(()), line[error.start : error.start + 1], line[:2]))
        text = line.decode(errors="replace")
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = re.sub(r": line 1 column (\d+).*", r" at column \1", str(error)).lower()
        if isinstance(error, RecursionError):
            reason = "nested too deeply"
        sheet.tell((), f"is not valid JSON: {reason}", "each line must be one JSON object; this line is left unchanged")
        return None
    if not isinstance(row, dict):
        sheet.tell((), f"an issue must be an object, got {value_text(row)}", _NOT_AN_ISSUE_HINT)
        return None
    whole: dict[str, Any] = whole_texts(row)
    return whole


def _sound(name: str, value: Any, sheet: Sheet) -> Any:
    """The value if it has the type of its field. Otherwise None, and the sheet has the problem."""
    try:
        sound = msgspec.convert(value, _FIELD_TYPES[name], strict=True)
    except msgspec.ValidationError as error:
        sheet.wrong((name,), value, f"has the wrong type ({str(error).split(' - ')[0].lower()})", "it is ignored")
        return None
    return sound


def _dependencies(value: Any, sheet: Sheet) -> tuple[Dependency, ...] | None:
    if not isinstance(value, list):
        sheet.wrong(("dependencies",), value, "must be a list", "it is ignored")
        return None
    sound: list[Dependency] = []
    for place, each in enumerate(value):
        given = {key: part for key, part in each.items() if part is not None} if isinstance(each, dict) else each
        try:
            sound.append(msgspec.convert(given, Dependency))
        except msgspec.ValidationError:
            sheet.wrong(("dependencies", place), each, "must have a `depends_on_id` and a `type`", "it is ignored")
    return tuple(sound)


def _tell_foreign(file: str, rows: list[tuple[int, str]], has_issues: bool, problems: Problems) -> None:
    if rows and not has_issues:
        line, fields = rows[0]
        message = f"none of its {len(rows)} rows is a Beads issue; the first has the fields {fields}"
        problems.add(Problem(file=file, line=line, message=message, hint=_NOT_AN_ISSUE_HINT))
        return
    for line, fields in rows:
        message = f"is not a Beads issue: it has the fields {fields}"
        problems.add(Problem(file=file, line=line, message=message, hint=_NOT_AN_ISSUE_HINT))
