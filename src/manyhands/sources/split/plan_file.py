"""Writes a plan in the format of its file name. The plan reader accepts it unchanged."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from manyhands.core.values.about import NO_WORDS, RunAbout
from manyhands.core.values.task import Task
from manyhands.errors import UsageError

SUFFIXES = (".toml", ".jsonl", ".json", ".yaml", ".yml")


def check_plan_name(file: Path) -> None:
    if file.suffix.lower() not in SUFFIXES:
        raise UsageError(f"plan `{file}` has no known format", f"its name must end in {', '.join(SUFFIXES)}")


def write_plan(file: Path, tasks: list[Task], about: RunAbout = NO_WORDS) -> None:
    """Write the plan completely or not at all: an older plan stays if writing fails."""
    check_plan_name(file)
    rows: list[dict[str, Any]] = [msgspec.to_builtins(task) for task in tasks]
    text = _text(file.suffix.lower(), rows, msgspec.to_builtins(about))
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"plan `{file}` cannot be written: {error.strerror or error}") from None


def _text(suffix: str, rows: list[dict[str, Any]], plan: dict[str, Any]) -> str:
    document = ({"plan": plan} if plan else {}) | {"task": rows}
    if suffix == ".jsonl":
        lines = [{"plan": plan}, *rows] if plan else rows
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if suffix == ".json":
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    if suffix == ".toml":
        tables = [f"[plan]\n{_toml_lines(plan)}"] if plan else []
        return "\n".join([*tables, *(f"[[task]]\n{_toml_lines(row)}" for row in rows)])
    import yaml

    dumped: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return dumped


def _toml_lines(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    # JSON's strings, numbers and booleans are valid TOML too, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
