"""A row of `[[backlogs]]` becomes a backlog to watch, or every reason why it cannot."""

from typing import Any

import msgspec

from manyhands.readers.problems import FieldPath, Sheet
from manyhands.readers.shape import REFUSED, read_as
from manyhands.sources.config.config_types import BacklogConfig
from manyhands.sources.workspace_paths import BadPath, plain_claim

#: What an issue does not say and a task of a plan says itself.
_FOR_ISSUES = (
    "run",
    "call",
    "args",
    "check",
    "workspace",
    "claims",
    "timeout",
    "attempts",
    "kinds",
    "otherwise",
    "conditional",
)


def backlog_from(row: object, path: FieldPath, sheet: Sheet) -> BacklogConfig | None:
    """The backlog, or None when the sheet has been told what is wrong."""
    plain = read_as(BacklogConfig, row, path, sheet)
    if plain is REFUSED:
        return None
    is_sound = [_names_one(plain, path, sheet), _has_sound_claims(plain, path, sheet)]
    return msgspec.convert(plain, BacklogConfig) if all(is_sound) else None


def _names_one(row: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    hint = 'write `plan = "tasks.toml"` or `beads = "."`'
    if bool(row.get("plan")) == bool(row.get("beads")):
        sheet.tell(path, "a backlog has either a `plan` or `beads`", hint)
        return False
    extra = next((name for name in _FOR_ISSUES if name in row), "") if row.get("plan") else ""
    if extra:
        message = f"`{extra}` is for `beads` alone: the tasks of a plan say it themselves"
        sheet.tell((*path, extra), message, "put it into the plan", row[extra])
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
