"""Finds a backlog and what keeps it: the file itself, or a database of which the file is only an export."""

import enum
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from manyhands.errors import BacklogError
from manyhands.readers.plain_file import read_plain
from manyhands.readers.problems import Problem, value_text
from manyhands.sources.beads.issue import STATUSES, Category
from manyhands.sources.beads.times import nanoseconds, written

DIRECTORY = ".beads"
#: In the order of Beads' own history: most versions wrote the first name.
_NAMES = ("issues.jsonl", "beads.jsonl")
_DATABASES = ("dolt", "embeddeddolt")
_CATEGORIES: dict[str, Category] = {
    "active": "active",
    "wip": "wip",
    "done": "done",
    "frozen": "frozen",
    "unspecified": "unspecified",
}
_STATUS_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_SETTINGS_BYTES_MAX = 16 << 20
#: The export is written just after the database. A smaller difference does not mean that it is stale.
_EXPORT_LAG_NS = 5_000_000_000


class Mode(enum.StrEnum):
    FILE = "file"  # the file has the issues: it is written in place, under its lock
    BD = "bd"  # a database has them: it is written only through the `bd` command


class BeadsPlace(Struct, frozen=True):
    directory: Path  # the directory with the file, the lock and the settings
    file: Path | None  # None: there is no export to read
    mode: Mode
    statuses: Mapping[str, Category]
    warnings: tuple[Problem, ...] = ()  # shown prominently: the data may be old or incomplete

    @property
    def name(self) -> str:
        return str(self.file or self.directory)


def find(path: Path) -> BeadsPlace:
    """`path` is a project, its `.beads` directory, or the file."""
    if path.is_file():
        directory, file = path.parent, path
    else:
        directory = path / DIRECTORY if (path / DIRECTORY).is_dir() else path
        if not directory.is_dir():
            raise BacklogError(f"there is no directory `{path}`", "name a project with a `.beads` directory in it")
        file = None
    warnings: list[Problem] = []
    config = _config(directory, warnings)
    if file is None:
        file = _file_in(directory, config, warnings)
    mode = Mode.FILE
    if kept_by := _database(directory):
        mode = Mode.BD
        warnings.append(_database_warning(directory, file, kept_by))
    elif file is None:
        if directory.name != DIRECTORY:
            raise BacklogError(
                f"`{path}` has neither a `.beads` directory nor an `issues.jsonl`",
                "run `bd init` to create one, or name the directory that has it",
            )
        mode = Mode.BD
        message = "has no issues.jsonl or beads.jsonl; issues are read and written with the `bd` command"
        warnings.append(Problem(file=str(directory), message=message, hint="run `bd export` to write one"))
    return BeadsPlace(directory, file, mode, _statuses(directory, config, warnings), tuple(warnings))


def _file_in(directory: Path, config: Mapping[str, Any], warnings: list[Problem]) -> Path | None:
    names = [directory / name for name in _NAMES]
    for key in ("export.path", "import.path"):
        if isinstance(given := config.get(key), str) and given:
            names += [directory / given, directory.parent / given]
    found = [name for name in dict.fromkeys(names) if name.is_file()]
    if len(found) > 1 and found[1].name in _NAMES:
        message = f"`{found[1].name}` beside it is not read"
        warnings.append(Problem(file=str(found[0]), message=message, hint="delete the file that is out of date"))
    return found[0] if found else None


def _config(directory: Path, warnings: list[Problem]) -> dict[str, Any]:
    """The settings with dotted names, whatever their nesting in the file."""
    file = directory / "config.yaml"
    if not file.is_file():
        return {}
    from manyhands.readers.yaml_nodes import YamlRefused, read_yaml_document

    try:
        settings, _ = read_yaml_document(read_plain(file, _SETTINGS_BYTES_MAX, through_links=True).decode())
    except (OSError, UnicodeDecodeError, YamlRefused) as error:
        reason = error.complaints[0][1] if isinstance(error, YamlRefused) else error
        warnings.append(Problem(file=str(file), message=f"cannot be read: {reason}", hint="its settings are not used"))
        return {}
    flat: dict[str, Any] = {}
    ahead: list[tuple[str, Any]] = [("", settings)]
    for prefix, value in ahead:  # the list grows during the loop
        if isinstance(value, dict):
            ahead += [(f"{prefix}.{name}" if prefix else str(name), below) for name, below in value.items()]
        else:
            flat[prefix] = value
    return flat


def _statuses(directory: Path, config: Mapping[str, Any], warnings: list[Problem]) -> Mapping[str, Category]:
    """The statuses: `status.custom: "review:wip,qa:active"` adds to the built-in ones."""
    given = config.get("status.custom")
    if not given:
        return STATUSES
    listed = given if isinstance(given, list) else str(given).split(",")
    added: dict[str, Category] = {}
    for entry in listed:
        name, _, category = str(entry).strip().partition(":")
        if not _STATUS_NAME.fullmatch(name) or (category and category not in _CATEGORIES):
            message = f"`status.custom` has {value_text(entry)}, which is not a status"
            hint = "write it like `review:wip`; categories are active, wip, done and frozen"
            warnings.append(Problem(file=str(directory / "config.yaml"), message=message, hint=hint))
        elif name not in STATUSES:
            added[name] = _CATEGORIES[category or "unspecified"]
    return STATUSES | added


def _database(directory: Path) -> Path | None:
    """The file or directory that shows that a Dolt database keeps the issues, if there is one."""
    for name in _DATABASES:
        if (directory / name).is_dir():
            return directory / name
    metadata = _json_in(directory / "metadata.json")
    if "dolt" in (metadata.get("backend"), metadata.get("database")):
        return directory / "metadata.json"
    # Only exports write this file: the database may be on a server.
    return directory / "export-state.json" if (directory / "export-state.json").is_file() else None


def _database_warning(directory: Path, file: Path | None, kept_by: Path) -> Problem:
    hint = "issues are written with the `bd` command; run `bd export` to update the file"
    if file is None:
        return Problem(file=str(directory), message=f"a Dolt database keeps these issues (`{kept_by.name}`)", hint=hint)
    exported_ns = _exported_at(directory, file)
    changed_ns = _newest_below(kept_by) if kept_by.is_dir() else 0
    message = f"is an export of a Dolt database (`{kept_by.name}`) and may be out of date"
    if changed_ns > exported_ns + _EXPORT_LAG_NS:
        message = (
            f"is out of date: exported at {written(exported_ns)}, and the Dolt database (`{kept_by.name}`) has changed "
            f"since, at {written(changed_ns)}"
        )
    return Problem(file=str(file), message=message, hint=hint)


def _exported_at(directory: Path, file: Path) -> int:
    state = _json_in(directory / "export-state.json")
    told = [nanoseconds(value) for value in state.values() if isinstance(value, str)]
    return max((at for at in told if at is not None), default=file.stat().st_mtime_ns)


def _newest_below(directory: Path) -> int:
    newest = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime_ns)
            except FileNotFoundError:
                continue  # a running database removes files
    return newest


def _json_in(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_plain(file, _SETTINGS_BYTES_MAX, through_links=True))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
