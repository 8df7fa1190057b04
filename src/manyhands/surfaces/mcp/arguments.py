"""What the tools take, as types. Their schemas are made from them, and arguments are checked against them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from manyhands.core.values.task import Stage, TaskState
from manyhands.errors import UsageError
from manyhands.readers.problems import Problems, Sheet, describe
from manyhands.readers.shape import fits
from manyhands.sources.plans.plan_schema import plan_schema
from manyhands.surfaces.verbs.host_verbs import PinnedWidth
from manyhands.surfaces.verbs.pull_verbs import ENDINGS

RunName = Annotated[str, Meta(description="the run; left out, the newest (for one task: the newest that has it)")]
EpicName = Annotated[str, Meta(description="tell only of the tasks below this parent")]
PeriodBegin = Annotated[
    str, Meta(description="tell of all runs since then instead of one run: `7d`, `12h` or a date such as `2026-11-12`")
]
PeriodEnd = Annotated[str, Meta(description="the end of that period; left out, now")]
ListedMax = Annotated[int, Meta(ge=1, description="the most to list; counts are always complete")]
StateName = Annotated[
    str, Meta(description="list only tasks in this state", extra_json_schema={"enum": list(TaskState)})
]
KindName = Annotated[str, Meta(description="list only tasks of this kind")]
TaskId = Annotated[str, Meta(description="the id of the task")]
AttemptNumber = Annotated[int, Meta(ge=1, description="this attempt, counted from 1; left out, the last")]
Lines = Annotated[int, Meta(ge=1, description="how many of the last lines")]
Words = Annotated[str, Meta(description="what the person says: what is to be done, the reason, or the answer")]
QuestionText = Annotated[str, Meta(description="what the person is asked")]
QuestionChoices = Annotated[tuple[str, ...], Meta(description="the answers that make sense; left out, any words")]
NoteWord = Annotated[
    Literal["outcome", "decision", "question", "lesson", "handoff"],
    Meta(
        description="what it is: an outcome, a decision, a question that is still open, a lesson for whoever comes "
        "next, or a handoff (where the work stands)"
    ),
]
NoteText = Annotated[str, Meta(description="one paragraph for people and agents who were not there")]
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
    limit: ListedMax = 50


class OfRun(Struct, forbid_unknown_fields=True):
    run: RunName | None = None


class ReviewWanted(Struct, forbid_unknown_fields=True):
    run: RunName | None = None
    epic: EpicName | None = None
    since: PeriodBegin | None = None
    until: PeriodEnd | None = None


class TasksWanted(Struct, forbid_unknown_fields=True):
    run: RunName | None = None
    state: StateName | None = None
    kind: KindName | None = None
    limit: ListedMax = 50


class OfTask(Struct, forbid_unknown_fields=True):
    task: TaskId
    run: RunName | None = None


class SaidToWaiting(OfTask, forbid_unknown_fields=True):
    words: Words = ""


class EditWanted(OfTask, forbid_unknown_fields=True):
    priority: Annotated[int, Meta(ge=0, le=4, description="from 0 (critical) to 4 (backlog)")] | None = None
    needs: Annotated[tuple[str, ...], Meta(description="the ids of all tasks that must be done first")] | None = None
    title: Annotated[str, Meta(description="one line for people")] | None = None
    prompt: Annotated[str, Meta(description="what the agent or the model is told")] | None = None
    stage: Annotated[Stage, Meta(description="draft or planned: it waits until task_publish")] | None = None


class QuestionPut(Struct, forbid_unknown_fields=True):
    question: QuestionText
    choices: QuestionChoices = ()


class NoteGiven(Struct, forbid_unknown_fields=True):
    kind: NoteWord
    text: NoteText


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
    limit: ListedMax = 50


class PlanGiven(Struct, forbid_unknown_fields=True):
    files: PlanFiles = ()
    tasks: PlanTasks = ()


class TasksToAdd(PlanGiven, forbid_unknown_fields=True):
    to: TargetRun | None = None


PullerName = Annotated[
    str,
    Meta(
        description="your name; no other agent may have the same. Left out on stdin and stdout, it is made up for "
        "this connection"
    ),
]
PullHostName = Annotated[str, Meta(description="the host that you work for; left out, the only one of type pull")]
Seconds = Annotated[int, Meta(ge=0, le=600, description="how many seconds to wait for a task")]
LeaseToken = Annotated[int, Meta(ge=0, description="the token of the task that you hold")]
TokensUsed = Annotated[int, Meta(ge=0, description="tokens that you have used for this task so far")]
Paths = tuple[str, ...]


class NextWanted(Struct, forbid_unknown_fields=True):
    puller: PullerName | None = None
    kinds: Annotated[tuple[str, ...], Meta(description="globs of kinds that you can do; none: all")] = ()
    wait_s: Seconds = 20
    host: PullHostName | None = None


class OfLease(Struct, forbid_unknown_fields=True):
    token: LeaseToken
    puller: PullerName | None = None


class UsedSoFar(OfLease, forbid_unknown_fields=True):
    tokens_in: TokensUsed = 0
    tokens_out: TokensUsed = 0
    cost: Annotated[float, Meta(description="what it has cost so far")] | None = None


class ProgressSaid(UsedSoFar, forbid_unknown_fields=True):
    progress: Annotated[str, Meta(description="one line: what you are doing")] = ""


class WorkDone(UsedSoFar, forbid_unknown_fields=True):
    ending: Annotated[
        str,
        Meta(
            description="how it ended; overloaded: you had no capacity, and the task is tried again",
            extra_json_schema={"enum": list(ENDINGS)},
        ),
    ] = "done"
    detail: Annotated[str, Meta(description="one line: why it ended like this")] = ""
    result: Annotated[str, Meta(description="what came out of it")] = ""
    notes: Annotated[
        str,
        Meta(
            description="what should be remembered, line by line: `decision: …`, `question: …`, `lesson: …`, "
            "`outcome: …`, `handoff: …`"
        ),
    ] = ""


class GivenBack(OfLease, forbid_unknown_fields=True):
    why: Annotated[str, Meta(description="why you give it back")] = ""


class FilesWanted(Struct, forbid_unknown_fields=True):
    write: Annotated[Paths, Meta(description="paths or globs that you will write")] = ()
    append: Annotated[Paths, Meta(description="paths that you will append to")] = ()
    read: Annotated[Paths, Meta(description="paths that must not change meanwhile")] = ()
    why: Annotated[str, Meta(description="what for, in one line")] = ""
    puller: PullerName | None = None
    wait_s: Seconds = 20
    host: PullHostName | None = None


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
