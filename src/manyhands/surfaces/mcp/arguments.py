"""What the tools take, as types: schemas are drawn from them, and what is given is held to them in our own words."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from manyhands.core.values.task import TaskState
from manyhands.errors import UsageError
from manyhands.readers.problems import Problems, Sheet, describe
from manyhands.readers.shape import fits
from manyhands.sources.plans.plan_schema import plan_schema

_NOTES: dict[str, dict[str, Any]] = {
    "run": {"description": "of this run; left out, the newest (for one task: the newest that has it)"},
    "task": {"description": "its id"},
    "state": {"description": "only those in this state", "enum": list(TaskState)},
    "kind": {"description": "only those of this kind"},
    "limit": {"description": "the most to list; counts are always complete", "minimum": 1},
    "attempt": {"description": "this attempt, counted from 1; left out, the last", "minimum": 1},
    "lines": {"description": "how many of the last lines", "minimum": 1},
    "host": {"description": "its name"},
    "why": {"description": "for those who wonder"},
    "width": {"description": "the most attempts at once there; left out, the clutch decides", "minimum": 1},
    "directory": {"description": "a project with Beads, its .beads directory, or the file"},
    "files": {"description": "plan files (.toml, .yaml, .jsonl), instead of `tasks`"},
    "tasks": {"description": "tasks with the fields of a plan, instead of `files`", "items": {"type": "object"}},
    "to": {"description": "the run to add to; left out, the run `added`"},
}


class NoArguments(Struct, forbid_unknown_fields=True):
    pass


class AtMost(Struct, forbid_unknown_fields=True):
    limit: int = 50


class OfRun(Struct, forbid_unknown_fields=True):
    run: str | None = None


class TasksWanted(Struct, forbid_unknown_fields=True):
    run: str | None = None
    state: str | None = None
    kind: str | None = None
    limit: int = 50


class OfTask(Struct, forbid_unknown_fields=True):
    task: str
    run: str | None = None


class LogWanted(OfTask, forbid_unknown_fields=True):
    attempt: int | None = None
    lines: int = 100


class OfHost(Struct, forbid_unknown_fields=True):
    host: str


class PauseWanted(OfHost, forbid_unknown_fields=True):
    why: str = ""


class HostWidthWanted(OfHost, forbid_unknown_fields=True):
    width: int | None = None


class BacklogAt(Struct, forbid_unknown_fields=True):
    directory: str = "."
    limit: int = 50


class PlanGiven(Struct, forbid_unknown_fields=True):
    files: tuple[str, ...] = ()
    tasks: tuple[dict[str, Any], ...] = ()


class TasksToAdd(PlanGiven, forbid_unknown_fields=True):
    to: str | None = None


Arguments = TypeVar("Arguments", bound=Struct)


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Only what is to be added has the fields of a task spelled out: they are long, and the same for a plan."""
    _, definitions = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    schema: dict[str, Any] = definitions[kind.__name__]
    del schema["title"]
    for name, field in schema["properties"].items():
        if "anyOf" in field:  # or null, which is the same as left out: said to nobody, understood from all
            [kind_of_value] = [one for one in field.pop("anyOf") if one != {"type": "null"}]
            field.update(kind_of_value)
        if not field.get("default"):
            field.pop("default", None)
        field.update(_NOTES[name])
    if kind is TasksToAdd:
        known = plan_schema()["$defs"]
        schema["$defs"] = {name: known[name] for name in ("Task", "Claims")}
        schema["properties"]["tasks"]["items"] = {"$ref": "#/$defs/Task"}
    return schema


def read(tool: str, kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """Refused with everything that is wrong with it."""
    problems = Problems()
    sheet = Sheet(tool, lambda path: 0, problems)
    if fits(given, kind, (), sheet):
        for name, value in given.items():
            least = _NOTES[name].get("minimum")
            if least is not None and value is not None and value < least:
                sheet.wrong((name,), value, f"must be {least} or more")
    if problems.total:
        raise UsageError(*describe("tool", problems.kept, problems.total))
    return msgspec.convert(given, kind)
