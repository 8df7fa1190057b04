"""One row of a plan file becomes a `Task`, or every reason why it cannot.

Files may say things in friendlier forms than `Task` has them (`timeout = "20m"`); here they become plain.
"""

import json
import shlex
from typing import Any

import msgspec

from manyhands.core.values.task import WORKTREE, Task
from manyhands.readers.problems import Sheet, value_text
from manyhands.readers.shape import REFUSED, is_clean, is_too_deep, known, reader_of
from manyhands.sources.plans.task_paths import plain_claims, plain_cwd, with_plain_artefacts

_READERS = {field.name: reader_of(field.type) for field in msgspec.structs.fields(Task)}
_FIELD_NAMES = list(_READERS)
_NOTHING_TO_RUN = 'give it `run = ["…"]`, `call = "package.module:function"` or a `prompt`'


def default_kind(row: dict[str, Any]) -> str:
    return "shell" if row.get("run") else "python" if row.get("call") else "text"


def task_from(row: object, sheet: Sheet) -> Task | None:
    """The task, or None when the sheet has been told what is wrong."""
    if not isinstance(row, dict):
        hint = 'for example {"id": "a", "run": ["true"]}'
        sheet.tell((), f"a task must be a table, got {value_text(row)}", hint, row)
        return None
    if is_too_deep(row):
        sheet.tell((), "is nested too deeply", "a task has tables in tables, but not dozens of them")
        return None
    good = is_clean(row, (), sheet)
    plain: dict[str, Any] = {}
    for name, value in row.items():
        good = _take(name, value, plain, sheet) and good
    good = _has_work(row, sheet) and good
    if not good:
        return None
    plain["kind"] = plain.get("kind") or default_kind(plain)
    task = msgspec.convert(plain, Task)
    return with_plain_artefacts(task, sheet) if task.save or task.keep else task


def _take(name: str, value: Any, plain: dict[str, Any], sheet: Sheet) -> bool:
    """Put the plain form of one field into `plain`, or tell why not."""
    if not known(name, _FIELD_NAMES, (), sheet):
        return False
    if _explained(name, value, sheet):
        return False
    taken = _READERS[name](value, (name,), sheet)
    if name == "claims" and isinstance(value, dict):
        # Of claims that are bad in one place, the others are looked at too.
        plain_form = plain_claims(value, (name,), sheet)
        taken = REFUSED if plain_form is None or taken is REFUSED else plain_form
    if taken is REFUSED:
        return False
    if name == "cwd":
        taken = plain_cwd(taken, (name,), sheet)
        if taken is None:
            return False
    plain[name] = list(dict.fromkeys(taken)) if name == "needs" else taken
    return True


def _explained(name: str, value: Any, sheet: Sheet) -> bool:
    """Whether this is a common mistake of form that was told with the right form as its hint."""
    if name in ("run", "check") and isinstance(value, str):
        sheet.wrong((name,), value, "must be a list of strings", f"write `{name} = {_argv_text(value)}`")
        return True
    if name == "priority" and isinstance(value, str):
        digits = value.strip().lstrip("pP")
        if digits not in ("0", "1", "2", "3", "4"):
            return False
        sheet.wrong((name,), value, "must be a whole number", f"write `priority = {digits}`")
        return True
    if name in ("needs", "labels", "keep") and isinstance(value, str):
        sheet.wrong((name,), value, "must be a list of strings", f"write `{name} = {_list_text([value[:60]])}`")
        return True
    if name == "claims" and isinstance(value, list | str):
        strings = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
        first = strings[0] if strings else "src/**"
        sheet.wrong((name,), value, "must be a table", f"write `claims = {{ write = {_list_text([first[:60]])} }}`")
        return True
    return False


def _argv_text(command: str) -> str:
    """The command as a TOML and JSON list, short enough for a hint."""
    try:
        argv = shlex.split(command[:200])
    except ValueError:
        argv = ["sh", "-c", command[:200]]
    return _list_text(argv)


def _list_text(items: list[str]) -> str:
    """As TOML, YAML and JSON all write it."""
    return "[" + ", ".join(json.dumps(item, ensure_ascii=not item.isprintable()) for item in items) + "]"


def _has_work(row: dict[str, Any], sheet: Sheet) -> bool:
    if "id" not in row:
        sheet.tell((), "`id` is missing", 'every task has an id of its own, for example `id = "lint-1"`')
        return False
    if row.get("run") and row.get("call"):
        hint = "make two tasks of it, or keep one of them"
        sheet.tell(("call",), "a task has `run` or `call`, not both", hint, row["call"])
        return False
    if not (row.get("run") or row.get("call") or row.get("prompt")):
        sheet.tell((), "the task has nothing to run", _NOTHING_TO_RUN)
        return False
    if row.get("workspace") == WORKTREE and row.get("call"):
        hint = "give it `run` or a `prompt` alone, or leave out `workspace`: functions work in no directory"
        sheet.tell(("workspace",), "only a command or an agent can have a worktree", hint, WORKTREE)
        return False
    if row.get("approve") is True and row.get("workspace") != WORKTREE:
        hint = f'add `workspace = "{WORKTREE}"`: what is done in the shared workspace cannot be held back'
        sheet.tell(("approve",), "only work in a worktree can wait for approval", hint, True)
        return False
    return True
