"""What the tools take, as types. Their schemas are made from them, and arguments are checked against them."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from manyhands.core.values.task import TaskState
from manyhands.errors import UsageError
from manyhands.readers.problems import Problems, Sheet, describe
from manyhands.readers.shape import fits
from manyhands.sources.plans.plan_schema import plan_schema
from manyhands.surfaces.verbs.host_verbs import PinnedWidth

RunName = Annotated[str, Meta(description="the run; left out, the newest (for one task: the newest that has it)")]
Limit = Annotated[int, Meta(ge=1, description="the most to list; counts are always complete")]
StateName = Annotated[
    str, Meta(description="list only tasks in this state", extra_json_schema={"enum": list(TaskState)})
]
KindName = Annotated[str, Meta(description="list only tasks of this kind")]
TaskId = Annotated[str, Meta(description="the id of the task")]
AttemptNumber = Annotated[int, Meta(ge=1, description="this attempt, counted from 1; left out, the last")]
Lines = Annotated[int, Meta(ge=1, description="how many of the last lines")]
HostName = Annotated[str, Meta(description="the name of the host")]
Reason = Annotated[str, Meta(description="the reason; people who look at the host see it")]
BeadsPath = Annotated[str, Meta(description="a project with Beads, its .beads directory, or the file")]
PlanFiles = Annotated[tuple[str, ...], Meta(description="plan files (.toml, .yaml, .jsonl), instead of `tasks`")]
PlanTasks = Annotated[
    tuple[dict[str, Any], ...], Meta(description="tasks with the fields of a plan, instead of `files`")
]
TargetRun = Annotated[str, Meta(description="the run to add to; left out, the run `added`")]


class NoArguments(Struct, forbid_unknown_fields=True):
    pass


class AtMost(Struct, forbid_unknown_fields=True):
    limit: Limit = 50


class OfRun(Struct, forbid_unknown_fields=True):
    run: RunName | None = None


class TasksWanted(Struct, forbid_unknown_fields=True):
    run: RunName | None = None
    state: StateName | None = None
    kind: KindName | None = None
    limit: Limit = 50


class OfTask(Struct, forbid_unknown_fields=True):
    task: TaskId
    run: RunName | None = None


class LogWanted(OfTask, forbid_unknown_fields=True):
    attempt: AttemptNumber | None = None
    lines: Lines = 100


class OfHost(Struct, forbid_unknown_fields=True):
    host: HostName


class PauseWanted(OfHost, forbid_unknown_fields=True):
    why: Reason = ""


class HostWidthWanted(OfHost, forbid_unknown_fields=True):
    width: PinnedWidth | None = None


class BacklogAt(Struct, forbid_unknown_fields=True):
    directory: BeadsPath = "."
    limit: Limit = 50


class PlanGiven(Struct, forbid_unknown_fields=True):
    files: PlanFiles = ()
    tasks: PlanTasks = ()


class TasksToAdd(PlanGiven, forbid_unknown_fields=True):
    to: TargetRun | None = None


Arguments = TypeVar("Arguments", bound=Struct)


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """Only `add` has the fields of a task spelled out: they are long, and the same for `plan_check`."""
    _, definitions = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    schema: dict[str, Any] = definitions[kind.__name__]
    del schema["title"]
    for field in schema["properties"].values():
        if "anyOf" in field:  # null means the same as leaving the field out, so the schema does not mention it
            [kind_of_value] = [one for one in field.pop("anyOf") if one != {"type": "null"}]
            field.update(kind_of_value)
        if not field.get("default"):
            field.pop("default", None)
    if kind is TasksToAdd:
        known = plan_schema()["$defs"]
        schema["$defs"] = {name: known[name] for name in ("Task", "Claims")}
        schema["properties"]["tasks"]["items"] = {"$ref": "#/$defs/Task"}
    return schema


def read(tool: str, kind: type[Arguments], given: Mapping[str, Any]) -> Arguments:
    """The arguments, or one error that names everything that is wrong with them."""
    problems = Problems()
    sheet = Sheet(tool, lambda path: 0, problems)
    if fits(given, kind, (), sheet):
        fields = schema_of(kind)["properties"]
        for name, value in given.items():
            _check_bounds(name, value, fields[name], sheet)
    if problems.total:
        raise UsageError(*describe("tool", problems.kept, problems.total))
    return msgspec.convert(given, kind)


def _check_bounds(name: str, value: object, field: dict[str, Any], sheet: Sheet) -> None:
    if not isinstance(value, int):
        return
    least, most = field.get("minimum"), field.get("maximum")
    if least is not None and value < least:
        sheet.wrong((name,), value, f"must be {least} or more")
    elif most is not None and value > most:
        sheet.wrong((name,), value, f"must be {most} or less")
