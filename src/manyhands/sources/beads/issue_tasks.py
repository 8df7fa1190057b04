"""Turns issues into tasks: their needs, claims and prompts. Only issues that Beads may give out become tasks."""

import enum
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from manyhands.core.graph import chain_lengths
from manyhands.core.values.task import Claims, Task
from manyhands.readers.name_rules import check_name
from manyhands.readers.problems import Problem, Problems, Sheet, sheet_of_row
from manyhands.sources.beads.beads_reading import Beads
from manyhands.sources.beads.beads_ready import Conditional, IssueWait, children_of, deferral, direct_waits, put_off
from manyhands.sources.beads.issue import Issue
from manyhands.sources.beads.issue_kinds import DEFAULT_KINDS, KindTable, kind_of
from manyhands.sources.workspace_paths import BadPath, filled_file, plain_claim

#: Lists of paths in an issue's `metadata` that the task will write to.
_WRITTEN = ("files", "touches")
_MODES = ("write", "append", "read")


class IssueTasks(Struct, frozen=True):
    tasks: tuple[Task, ...]
    #: Task → a wait that needs cannot express. These tasks are deferred until the backlog changes or time passes.
    held: dict[str, str]
    problems: list[Problem]


def tasks_of(
    beads: Beads,
    now: float,
    *,
    like: Task | None = None,
    holder: str = "",
    kinds: KindTable = DEFAULT_KINDS,
    conditional: Conditional = Conditional.ON_FAILURE,
) -> IssueTasks:
    """The tasks. Those without needs that are not deferred may run now; `runnable` lists the same.

    `like` has the fields that an issue does not have (`run`, `check`, `timeout` …). Issues in progress that `holder`
    has claimed are tasks too.
    """
    problems = Problems()
    work = {
        id: issue
        for id, issue in beads.issues.items()
        if _is_work(issue, beads, holder)
        and check_name(id, ("id",), sheet_of_row(beads.file, beads.line_of[id], problems))
    }
    needs_of, held = _needs_and_holds(beads, work, now, conditional)
    pattern = like or Task("")
    tasks = tuple(
        replace(
            pattern,
            id=id,
            kind=kind_of(issue, kinds),
            title=issue.title,
            priority=issue.priority,
            needs=needs_of[id],
            claims=_claims_of(issue, pattern, sheet_of_row(beads.file, beads.line_of[id], problems)),
            prompt=prompt_of(issue),
            parent=next(iter(issue.parents), ""),
            deferred=held.get(id, False),
            labels=issue.labels,
            save=_save_of(pattern, id, kind_of(issue, kinds), sheet_of_row(beads.file, beads.line_of[id], problems)),
        )
        for id, issue in work.items()
    )
    return IssueTasks(tasks, held, problems.kept)


def _save_of(pattern: Task, id: str, kind: str, sheet: Sheet) -> str:
    try:
        return filled_file(pattern.save, id, kind) if pattern.save else ""
    except BadPath as bad:
        sheet.wrong(("save",), pattern.save, bad.rule, bad.hint)
        return ""


def _is_work(issue: Issue, beads: Beads, holder: str) -> bool:
    if issue.is_epic:
        return False
    if holder and issue.status == "in_progress" and issue.assignee == holder:
        return True
    return not put_off(issue, beads.statuses)


class _Reach(enum.Enum):
    """A wait that no set of needs can express."""

    NOWHERE = enum.auto()


def _needs_and_holds(
    beads: Beads, work: Mapping[str, Issue], now: float, conditional: Conditional
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    issues = beads.issues
    waits = direct_waits(issues, conditional)
    children = children_of(issues)
    needs_of: dict[str, tuple[str, ...]] = {}
    held: dict[str, str] = {}
    for id, issue in work.items():
        needs: dict[str, None] = {}
        if why := deferral(issue, issues, now):
            held[id] = why
        for wait in _own_and_inherited(id, issues, waits):
            tasks = _tasks_behind(wait, issues, children, work)
            if tasks is _Reach.NOWHERE:
                held.setdefault(id, wait.why)
            else:
                needs.update(dict.fromkeys(tasks))
        needs_of[id] = tuple(needs)
    # The scheduler never gets a circle, or tasks that wait for one: they would never start.
    sound = chain_lengths(needs_of)
    for id in work:
        if id not in sound:
            needs_of[id] = ()
            held[id] = "waits in a circle, or for an issue that does"
    return needs_of, held


def _own_and_inherited(
    id: str, issues: Mapping[str, Issue], waits: Mapping[str, list[IssueWait]]
) -> Iterable[IssueWait]:
    """The waits of the issue and of its parents: what blocks a parent blocks its children."""
    line = {id: None}
    for each in (ahead := [id]):  # grows as it is walked
        yield from waits.get(each, ())
        for parent in issues[each].parents:
            if parent in issues and parent not in line:
                line[parent] = None
                ahead.append(parent)


def _tasks_behind(
    wait: IssueWait, issues: Mapping[str, Issue], children: Mapping[str, list[str]], work: Mapping[str, Issue]
) -> list[str] | _Reach:
    """The tasks that must be done to end the wait. An epic is done when its children are."""
    if not wait.is_for_done:
        return _Reach.NOWHERE
    tasks: list[str] = []
    seen = {wait.target}
    for id in (ahead := [wait.target]):  # grows as it is walked
        if id in work:
            tasks.append(id)
            continue
        left = [child for child in children.get(id, ()) if not issues[child].is_settled]
        if not issues[id].is_epic or not left:
            return _Reach.NOWHERE
        ahead.extend(child for child in left if child not in seen)
        seen.update(left)
    return tasks


def _claims_of(issue: Issue, pattern: Task, sheet: Sheet) -> Claims | None:
    if issue.metadata is not None and not isinstance(issue.metadata, dict):
        sheet.wrong(("metadata",), issue.metadata, "must be a table", "its file lists become the task's claims")
    return claims_of_metadata(issue.metadata, sheet) if has_file_lists(issue.metadata) else pattern.claims


def has_file_lists(metadata: Any) -> bool:
    return isinstance(metadata, dict) and any(name in metadata for name in (*_WRITTEN, "claims"))


def claims_of_metadata(metadata: Any, sheet: Sheet) -> Claims | None:
    """The file lists in `metadata`: `files` and `touches` are written to, and `claims` has a list for each mode.

    None (unknown) if a list is invalid: half a list would let two tasks write to one file.
    """
    given = metadata.get("claims")
    lists: list[tuple[str, tuple[str | int, ...], Any]] = [
        ("write", ("metadata", name), metadata[name]) for name in _WRITTEN if name in metadata
    ]
    if "claims" in metadata:
        if not isinstance(given, dict) or set(given) - set(_MODES):
            sheet.wrong(("metadata", "claims"), given, "must have lists of paths under write, append and read")
            return None
        lists += [(mode, ("metadata", "claims", mode), given[mode]) for mode in given]
    found: dict[str, list[str]] = {}
    is_sound = True
    for mode, path, paths in lists:
        if not isinstance(paths, list) or not all(isinstance(each, str) for each in paths):
            sheet.wrong(path, paths, "must be a list of paths", "without it the task claims everything")
            is_sound = False
            continue
        for place, each in enumerate(paths):
            try:
                found.setdefault(mode, []).append(plain_claim(each))
            except BadPath as error:
                sheet.wrong((*path, place), each, error.rule, error.hint)
                is_sound = False
    if not is_sound:
        return None
    return Claims(**{mode: tuple(dict.fromkeys(paths)) for mode, paths in found.items()})


def prompt_of(issue: Issue) -> str:
    parts = [issue.title, issue.description]
    for heading, text in (
        ("Design", issue.design),
        ("Acceptance criteria", issue.acceptance_criteria),
        ("Notes", issue.notes),
    ):
        if text.strip():
            parts.append(f"## {heading}\n{text.strip()}")
    return "\n\n".join(part.strip() for part in parts if part.strip())
