"""Writes a plan in the format of its file name. The plan reader accepts it unchanged."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from manyhands.core.values.task import Task
from manyhands.errors import UsageError

SUFFIXES = (".toml", ".jsonl", ".json", ".yaml", ".yml")


def check_plan_name(file: Path) -> None:
    if file.suffix.lower() not in SUFFIXES:
        raise UsageError(f"plan `{file}` has no known format", f"its name must end in {', '.join(SUFFIXES)}")


def write_plan(file: Path, tasks: list[Task]) -> None:
    """Write the plan completely or not at all: an older plan stays if writing fails."""
    check_plan_name(file)
    rows: list[dict[str, Any]] = [msgspec.to_builtins(task) for task in tasks]
    text = _text(file.suffix.lower(), rows)
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, file)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"plan `{file}` cannot be written: {error.strerror or error}") from None


def _text(suffix: str, rows: list[dict[str, Any]]) -> str:
    if suffix == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if suffix == ".json":
        return json.dumps({"task": rows}, ensure_ascii=False, indent=1) + "\n"
    if suffix == ".toml":
        return "\n".join(
            "[[task]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in row.items()) for row in rows
        )
    import yaml

    dumped: str = yaml.safe_dump({"task": rows}, sort_keys=False, allow_unicode=True)
    return dumped


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    # JSON's strings, numbers and booleans are valid TOML too, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
