"""A row of `[[backlogs]]` becomes a backlog to watch, or every reason why it cannot."""

from typing import Any

import msgspec

from manyhands.readers.problems import FieldPath, Sheet
from manyhands.readers.shape import REFUSED, read_as
from manyhands.sources.config.config_types import BacklogConfig
from manyhands.sources.config.cron import BadSchedule, parse_schedule
from manyhands.sources.workspace_paths import BadPath, plain_claim

#: Where the tasks come from.
SOURCES = ("plan", "beads", "redis", "postgres", "github", "markdown")
#: Those whose entries are issues.
_OF_ISSUES = ("beads", "github", "markdown")
#: How issues are read.
_FOR_ISSUES = ("kinds", "otherwise", "conditional")
#: What an issue or an entry does not say, and a task of a plan says itself.
_NOT_FOR_PLANS = (
    "run",
    "call",
    "args",
    "check",
    "workspace",
    "claims",
    "save",
    "timeout",
    "attempts",
    *_FOR_ISSUES,
)


def backlog_from(row: object, path: FieldPath, sheet: Sheet) -> BacklogConfig | None:
    """The backlog, or None when the sheet has been told what is wrong."""
    plain = read_as(BacklogConfig, row, path, sheet)
    if plain is REFUSED:
        return None
    checks = (_names_one, _has_sound_claims, _has_sound_schedule)
    is_sound = [check(plain, path, sheet) for check in checks]
    return msgspec.convert(plain, BacklogConfig) if all(is_sound) else None


def _names_one(row: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    hint = 'write `plan = "tasks.toml"`, `beads = "."`, `github = { repository = "OWNER/REPO" }` or another of them'
    if sum(bool(row.get(name)) for name in SOURCES) != 1:
        sheet.tell(path, f"a backlog has exactly one of {', '.join(SOURCES)}", hint)
        return False
    if row.get("plan") and (extra := next((name for name in _NOT_FOR_PLANS if name in row), "")):
        message = f"`{extra}` is not for a `plan`: the tasks of a plan say it themselves"
        sheet.tell((*path, extra), message, "put it into the plan", row[extra])
        return False
    if not any(row.get(name) for name in _OF_ISSUES) and (
        extra := next((name for name in _FOR_ISSUES if name in row), "")
    ):
        message = f"`{extra}` is for issues alone: the entries of a queue have a `kind`"
        sheet.tell((*path, extra), message, "put it into the entries", row[extra])
        return False
    if row.get("workspace") and row.get("call"):
        message = "only a command or an agent can have a worktree, and this backlog has a `call`"
        sheet.tell((*path, "workspace"), message, "give it `run`, or leave out `workspace`", row["workspace"])
        return False
    if row.get("run") and row.get("call"):
        sheet.tell((*path, "call"), "a backlog has `run` or `call`, not both", "keep one of them", row["call"])
        return False
    return True


def _has_sound_claims(row: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    is_sound = True
    for mode, paths in (row.get("claims") or {}).items():
        for place, each in enumerate(paths):
            try:
                plain_claim(each)
            except BadPath as error:
                sheet.wrong((*path, "claims", mode, place), each, error.rule, error.hint)
                is_sound = False
    return is_sound


def _has_sound_schedule(row: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    extra = next((name for name in ("schedule", "timezone") if name in row), "")
    if extra and not row.get("plan"):
        message = f"`{extra}` is for a `plan` alone: other backlogs take their entries when they come"
        sheet.tell((*path, extra), message, "leave it out", row[extra])
        return False
    if "schedule" not in row:
        if extra:
            sheet.tell((*path, extra), "`timezone` is for a `schedule`, and there is none", "leave it out", row[extra])
        return not extra
    try:
        parse_schedule(row["schedule"], row.get("timezone", "UTC"))
    except BadSchedule as error:
        sheet.wrong((*path, "schedule"), row["schedule"], error.rule, error.hint)
        return False
    return True
