"""A task as a plan file states it, and the states it can be in.

One definition serves plan files, the journal and the wire. Every value here is immutable.
"""

import enum
from typing import Annotated, Any, Literal, assert_never

from msgspec import Struct

from manyhands.durations import Duration
from manyhands.field_rules import (
    PRIORITY_HINT,
    Amount,
    CommandLine,
    Count,
    FunctionName,
    Kind,
    Name,
    NameOrEmpty,
    Positive,
    Priority,
    VariableName,
    rule,
    says,
)


class TaskState(enum.StrEnum):
    BLOCKED = "blocked"  # waits for another task
    READY = "ready"
    RUNNING = "running"
    BACKOFF = "backoff"  # waits for some time before its next attempt
    DEFERRED = "deferred"  # a person put it off
    NEEDS_PERSON = "needs_person"  # waits for an approval, an answer or something else that only a person can do
    DONE = "done"
    FAILED = "failed"  # out of attempts
    CANCELLED = "cancelled"  # a person asked for it
    SKIPPED = "skipped"  # a task that it needs did not end well


def _is_end(state: TaskState) -> bool:
    match state:
        case TaskState.DONE | TaskState.FAILED | TaskState.CANCELLED | TaskState.SKIPPED:
            return True
        case TaskState.BLOCKED | TaskState.READY | TaskState.RUNNING | TaskState.BACKOFF:
            return False
        case TaskState.DEFERRED | TaskState.NEEDS_PERSON:
            return False
        case _:
            assert_never(state)


#: States that a task leaves only if a person asks for a retry.
TERMINAL = frozenset(state for state in TaskState if _is_end(state))


class Claims(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Paths (globs) or named resources a task uses. Conflicting claims never overlap in time."""

    write: Annotated[tuple[str, ...], says("No other task uses these meanwhile.")] = ()
    append: Annotated[tuple[str, ...], says("Other tasks may append to these meanwhile.")] = ()
    read: Annotated[tuple[str, ...], says("Other tasks may read these meanwhile.")] = ()


# Declared once for tasks and for hosts.
TurnsLimit = Annotated[Count | None, says("The most turns of an attempt.")]
CostLimit = Annotated[Positive | None, says("The most that an attempt may cost, in whatever money the program tells.")]
TokensLimit = Annotated[Count | None, says("The most tokens of an attempt, read and written together.")]


class AttemptLimits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Where an attempt of an agent ends, whatever is left to do."""

    turns: TurnsLimit = None
    cost: CostLimit = None
    tokens: TokensLimit = None


NO_CLAIMS = Claims()
#: The claims of a task that runs in the workspace and declares none: it may touch everything.
WHOLE_WORKSPACE = Claims(write=("**",))
#: The workspace of a task that asks for a git worktree of its own. Its result lands afterwards.
WORKTREE = "worktree"


TITLE_MAX = 10_000
Stage = Literal["", "draft", "planned"]


class Task(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One piece of wanted work. The fields are those of a plan file."""

    id: Annotated[
        Name,
        says("The name of the task. It is unique in the plan, over all of its files."),
    ]
    kind: Annotated[
        Kind,
        says(
            "What sort of work it is. You choose the word: hosts are found by it and difficulty is learned by it. "
            "Left out: `shell`, `python` or `text`."
        ),
    ] = ""
    title: Annotated[
        str,
        rule(maxLength=TITLE_MAX),
        says("One line for people.", "put long text into `prompt`"),
    ] = ""
    priority: Annotated[Priority, says("0 is critical, 4 is backlog.", PRIORITY_HINT)] = 2
    needs: Annotated[
        tuple[str, ...],
        says("Ids of tasks that must be done first. If one of them fails or is cancelled, this task is skipped."),
    ] = ()
    claims: Annotated[
        Claims | None,
        says(
            "Paths (globs) or named resources that the task uses. `{}` touches nothing. "
            "Left out, a command has the whole workspace alone."
        ),
    ] = None  # None: not declared, see `claims_of`
    run: Annotated[
        CommandLine,
        says(
            "A command and its arguments, for a host that runs commands. No shell reads it: write "
            '`["sh", "-c", "…"]` if you need one. `{prompt}` and other fields are filled in.'
        ),
    ] = ()
    call: Annotated[
        FunctionName,
        says(
            '`"package.module:function"`, for a host that calls functions, sync or async. '
            "A parameter named `context` receives the attempt."
        ),
    ] = ""
    prompt: Annotated[
        str,
        says("Alone: what a model is asked. With `run` or `call`: what the agent is told."),
    ] = ""
    args: Annotated[
        dict[str, Any] | None,
        says(
            "Keyword arguments of `call`. For a model call: extra request fields "
            "(`max_tokens`, `temperature`, `messages` …)."
        ),
    ] = None
    check: Annotated[
        CommandLine,
        says(
            "A command that must pass for an attempt to count as done. The next attempt is told what the check printed."
        ),
    ] = ()
    env: Annotated[
        dict[VariableName, str] | None,
        says("Environment variables of the command. They override those of the host."),
    ] = None
    cwd: Annotated[str, says("The directory the command runs in, relative to the workspace.")] = ""
    save: Annotated[
        str,
        says(
            "The file in the workspace that receives the answer: what a model or an agent answered, what a function "
            "returned, what a command printed. `{id}` and `{kind}` are filled in. It is claimed for writing."
        ),
    ] = ""
    keep: Annotated[
        tuple[str, ...],
        says(
            "Files (globs) that the task must leave. Copies of them are kept beside the output of the attempt. "
            "Without a worktree they are claimed for writing."
        ),
    ] = ()
    workspace: Annotated[
        str,
        rule(
            f'must be "{WORKTREE}" or be left out',
            "all tasks share one workspace otherwise; `cwd` is a directory in it",
            enum=["", WORKTREE],
        ),
        says(
            '`"worktree"` gives a command a git worktree of its own, from which its work lands. '
            "Left out: the workspace that all tasks share."
        ),
    ] = ""
    approve: Annotated[
        bool,
        says("`true`: what it did in its worktree waits for `manyhands task approve` before it lands."),
    ] = False
    timeout: Annotated[
        Duration | None,
        says(
            "How long one attempt may take. Left out: as long as it needs (model calls: 10 minutes).",
            "leave it out for no time-out",
        ),
    ] = None  # seconds
    limits: Annotated[
        AttemptLimits | None,
        says(
            "Where one attempt of an agent ends: `{ turns = 50, cost = 2.5, tokens = 400000 }`, any of them. "
            "A limit of its host applies if it is lower."
        ),
    ] = None
    attempts: Annotated[
        Count,
        says("How often the task is tried.", "leave it out for 3; `deferred = true` puts a task off"),
    ] = 3
    parent: Annotated[
        str,
        says("The larger piece of work it belongs to. `[plan] parents` limits how many of its children run at once."),
    ] = ""
    host: Annotated[str, says("The only host it may run on.")] = ""
    preemptible: Annotated[
        bool,
        says("It may be stopped for a task of priority 0. That costs it no attempt."),
    ] = False
    barrier: Annotated[
        bool | str,
        rule("must be true or false", "tasks that share a host alone have a `family`", type="boolean"),
        says("It needs its host alone: what runs there ends first, and nothing starts beside it."),
    ] = False  # only old journals, which `old_journals` reads, have text here
    family: Annotated[
        NameOrEmpty,
        says("It is done together with others of this family of the config, around one disruptive step."),
    ] = ""
    once: Annotated[
        bool,
        says("An interrupted attempt is not made again, because nobody knows how far it came."),
    ] = False
    deferred: Annotated[
        bool | str,
        rule("must be true, false, or a reason of more than one word", pattern=r"\S[\s\S]* [\s\S]*\S"),
        says('It waits for `manyhands task resume`: `true`, or the reason (`"after the release"`).'),
    ] = False
    stage: Annotated[
        Stage,
        says(
            "Before it is ready: `draft` is an idea, `planned` is agreed on. It waits for `manyhands task publish`.",
            "leave it out for a task that may run",
        ),
    ] = ""
    resources: Annotated[
        dict[str, Amount] | None,
        says("What it takes of the `resources` that its host has, for example `{ gpu_gb = 24 }`."),
    ] = None
    labels: Annotated[tuple[str, ...], says("Words to find it by.")] = ()
    app: Annotated[str, says("The app its result belongs to. Routes of the config go by it.")] = ""
    reply_to: Annotated[str, says("The address its result is delivered to, if the route of its app allows it.")] = ""


#: Before the name of a function that lives in a running Python program, in `call`. No module has such a name.
PROGRAM = "<program>:"

#: What an attempt is told to do, and where. The other fields say when and how often.
_WORK = ("kind", "run", "call", "prompt", "args", "check", "env", "cwd", "workspace", "host", "save", "keep")


def is_same_work(one: Task, other: Task) -> bool:
    """Would the result of one be good for the other?"""
    return all(getattr(one, field) == getattr(other, field) for field in _WORK)


def is_put_off(task: Task) -> bool:
    """Does its plan say that it must not start yet?"""
    return bool(task.deferred or task.stage)


def form_of(task: Task) -> str:
    """What the task brings to its host: a command (`run`), a function (`call`), a `prompt`, a prompt to be carried
    out in a worktree, which only an `agent` can, or a function that only a running `program` has."""
    if task.run or task.call:
        if task.call.startswith(PROGRAM):
            return "program"
        return "run" if task.run else "call"
    return "agent" if task.workspace == WORKTREE else "prompt"


def claims_of(task: Task) -> Claims:
    """The declared claims. If none are declared, a command in the shared workspace claims all of it.

    Function and model calls have no workspace, and a task with a workspace of its own shares none. What a task saves or
    keeps is claimed as well.
    """
    if task.claims is not None:
        claims = task.claims
    else:
        claims = WHOLE_WORKSPACE if task.run and not task.workspace else NO_CLAIMS
    return _with_artefacts(task, claims) if task.save or task.keep else claims


def _with_artefacts(task: Task, claims: Claims) -> Claims:
    files = ((task.save,) if task.save else ()) + (() if task.workspace else task.keep)
    new = tuple(file for file in files if file not in claims.write)
    if not new or WHOLE_WORKSPACE.write[0] in claims.write:
        return claims
    return Claims(write=(*claims.write, *new), append=claims.append, read=claims.read)
