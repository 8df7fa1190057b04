"""What each field of a task must be beyond its type. Rules look at one field each and see only well-typed values."""

import math
import re
from collections.abc import Callable
from typing import Any

from manyhands.core.values.task import WORKTREE
from manyhands.readers.durations import DURATION_HINT, parse_duration
from manyhands.readers.name_rules import check_amounts, check_env, check_name, is_good_name
from manyhands.readers.problems import FieldPath, Sheet
from manyhands.sources.workspace_paths import BadPath, plain_claim, plain_directory

TITLE_MAX = 10_000
PRIORITY_HINT = "priorities go from 0 (critical) to 4 (backlog); leave it out for 2"

CALL_PATTERN = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"
_FUNCTION = re.compile(CALL_PATTERN)


def _check_title(title: str, path: FieldPath, sheet: Sheet) -> bool:
    if len(title) <= TITLE_MAX:
        return True
    rule = f"must be at most {TITLE_MAX:,} characters long, has {len(title):,}"
    sheet.wrong(path, title, rule, "put long text into `prompt`")
    return False


def is_good_kind(kind: str) -> bool:
    return is_good_name(kind) and not any(letter in kind for letter in "*?[")


def _check_kind(kind: str, path: FieldPath, sheet: Sheet) -> bool:
    if any(letter in kind for letter in "*?["):
        sheet.wrong(path, kind, "must be one kind, not a pattern", "globs are for the `kinds` of a host")
        return False
    return not kind or check_name(kind, path, sheet)


def _check_priority(priority: int, path: FieldPath, sheet: Sheet) -> bool:
    if 0 <= priority <= 4:
        return True
    sheet.wrong(path, priority, "must be 0, 1, 2, 3 or 4", PRIORITY_HINT)
    return False


def _check_attempts(attempts: int, path: FieldPath, sheet: Sheet) -> bool:
    if attempts >= 1:
        return True
    sheet.wrong(path, attempts, "must be at least 1", "leave it out for 3; `deferred = true` puts a task off")
    return False


def _check_deferred(deferred: bool | str, path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(deferred, bool) or " " in deferred.strip():
        return True
    sheet.wrong(path, deferred, "must be true, false, or a reason of more than one word")
    return False


def _check_family(family: str, path: FieldPath, sheet: Sheet) -> bool:
    return not family or check_name(family, path, sheet)


def _check_barrier(barrier: bool | str, path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(barrier, bool):
        return True
    sheet.wrong(path, barrier, "must be true or false", "tasks that share a host alone have a `family`")
    return False


def _check_command(argv: list[str], path: FieldPath, sheet: Sheet) -> bool:
    if not argv or argv[0].strip():
        return True
    sheet.wrong((*path, 0), argv[0], "must name a program")
    return False


def is_function(call: str) -> bool:
    return _FUNCTION.fullmatch(call) is not None


def _check_call(call: str, path: FieldPath, sheet: Sheet) -> bool:
    if not call or is_function(call):
        return True
    sheet.wrong(path, call, "must name a function", 'write it like "package.module:function"')
    return False


def _check_workspace(workspace: str, path: FieldPath, sheet: Sheet) -> bool:
    if workspace in ("", WORKTREE):
        return True
    rule = f'must be "{WORKTREE}" or be left out'
    sheet.wrong(path, workspace, rule, "all tasks share one workspace otherwise; `cwd` is a directory in it")
    return False


#: Field → its rule. A field that is not here is held to its type alone.
RULES: dict[str, Callable[[Any, FieldPath, Sheet], bool]] = {
    "id": check_name,
    "kind": _check_kind,
    "title": _check_title,
    "priority": _check_priority,
    "attempts": _check_attempts,
    "deferred": _check_deferred,
    "barrier": _check_barrier,
    "family": _check_family,
    "run": _check_command,
    "check": _check_command,
    "call": _check_call,
    "env": check_env,
    "resources": check_amounts,
    "workspace": _check_workspace,
}


def seconds_of(value: object, path: FieldPath, sheet: Sheet) -> float | None:
    """A time-out as seconds; None if it is none, in which case the sheet has been told."""
    seconds = parse_duration(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        sheet.wrong(path, value, "must be a length of time", DURATION_HINT)
        return None
    if not 0 < seconds < math.inf:
        rule = "must be above 0" if seconds <= 0 else "must be a finite number"
        sheet.wrong(path, value, rule, "leave it out for no time-out")
        return None
    return float(seconds)


def plain_claims(claims: dict[str, Any], path: FieldPath, sheet: Sheet) -> dict[str, list[str]] | None:
    """Claims with every path made plain; None if one of them is bad, in which case the sheet has been told.

    Passes over what is not well-typed.
    """
    plain: dict[str, list[str]] = {}
    good = True
    for mode, patterns in claims.items():
        found: dict[str, None] = {}  # the same claim twice is one claim
        for place, pattern in enumerate(patterns if isinstance(patterns, list) else ()):
            if not isinstance(pattern, str):
                continue
            try:
                found[plain_claim(pattern)] = None
            except BadPath as bad:
                sheet.wrong((*path, mode, place), pattern, bad.rule, bad.hint)
                good = False
        plain[mode] = list(found)
    return plain if good else None


def plain_cwd(cwd: str, path: FieldPath, sheet: Sheet) -> str | None:
    try:
        return plain_directory(cwd)
    except BadPath as bad:
        sheet.wrong(path, cwd, bad.rule, bad.hint)
        return None
