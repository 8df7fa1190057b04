"""The values everything else speaks in: tasks, claims, hosts, endings.

One definition serves plan files, the journal and the wire. All of them are immutable; what changes
lives in `state.py` and is changed by the scheduler alone.
"""

import enum
import math
from collections.abc import Iterable
from typing import Any

from msgspec import Struct


class TaskState(enum.StrEnum):
    BLOCKED = "blocked"  # waits for another task
    READY = "ready"
    RUNNING = "running"
    BACKOFF = "backoff"  # waits out a delay before its next attempt
    DEFERRED = "deferred"  # a person put it off
    DONE = "done"
    FAILED = "failed"  # out of attempts
    CANCELLED = "cancelled"  # a person said so
    SKIPPED = "skipped"  # the engine said so: a need did not end well


TERMINAL = frozenset({TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED, TaskState.SKIPPED})


class EndingKind(enum.StrEnum):
    DONE = "done"
    FAILED = "failed"
    OVERLOADED = "overloaded"  # the host had no room: not the task's fault
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    LOST = "lost"  # the dispatcher, the host or the machine died under it


class Budget(Struct, frozen=True, omit_defaults=True, gc=False):
    """What a server says in its answers of its own rate limits, and what is left of them now."""

    requests_per_minute: float | None = None
    requests_left: float | None = None
    tokens_per_minute: float | None = None
    tokens_left: float | None = None


class Ending(Struct, frozen=True, omit_defaults=True, gc=False):
    """How an attempt ended, kept as a value all the way to the page."""

    kind: EndingKind
    detail: str = ""  # one line a person understands
    exit_code: int | None = None
    permanent: bool = False  # trying again cannot help (bad key, prompt too long): no retry
    retry_after_s: float | None = None  # the host said when to come back
    rate_limited: bool = False  # with overloaded: the rate was refused (429), not the load
    quota: bool = False  # with overloaded: a budget is used up until retry_after_s; not a sign of load
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None  # in whatever money: as it was told, or by the prices of the host
    ttft_s: float | None = None  # time to the first token, where known
    budget: Budget | None = None  # rate limits the server stated
    memory_bytes: int = 0  # peak of the attempt's processes, where known
    tail: str = ""  # the last lines of output
    result: str = ""  # what a function returned (JSON) or a model answered, bounded


DONE = Ending(EndingKind.DONE)


def total_cost(costs: Iterable[float | None]) -> float | None:
    """None if none of them is known."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known else None


class Claims(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Paths (globs) or named resources a task uses. Conflicting claims never overlap in time."""

    write: tuple[str, ...] = ()  # exclusive
    append: tuple[str, ...] = ()  # shared with other appends
    read: tuple[str, ...] = ()  # shared with other reads


NO_CLAIMS = Claims()
#: What a task that runs in the workspace and declares nothing is taken to touch: all of it.
WHOLE_WORKSPACE = Claims(write=("**",))
#: The workspace of a task that asks for a git worktree of its own; what it does there lands afterwards.
WORKTREE = "worktree"


class Task(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One piece of wanted work. The fields are those of a plan file."""

    id: str
    kind: str = ""
    title: str = ""
    priority: int = 2  # 0 critical … 4 backlog
    needs: tuple[str, ...] = ()
    claims: Claims | None = None  # None: not declared, see `claims_of`
    run: tuple[str, ...] = ()  # argv for a shell host; {prompt} and other fields are filled in
    call: str = ""  # package.module:function for a python host
    prompt: str = ""
    args: dict[str, Any] | None = None  # arguments of `call`, or extra request fields of a model call
    check: tuple[str, ...] = ()  # a command that must pass for an attempt to count as done
    env: dict[str, str] | None = None
    cwd: str = ""  # relative to the workspace
    workspace: str = ""  # "": the shared one; WORKTREE: one of its own
    timeout: float | None = None  # seconds
    attempts: int = 3
    parent: str = ""
    host: str = ""  # this host only
    preemptible: bool = False
    barrier: bool | str = False  # wants its host alone; by a name: alone with those of the same name
    family: str = ""  # is done with these together, around one disruptive step
    once: bool = False  # an attempt that was interrupted is not made again: nobody knows how far it came
    deferred: bool | str = False  # or why
    resources: dict[str, float] | None = None
    labels: tuple[str, ...] = ()
    app: str = ""
    reply_to: str = ""


def form_of(task: Task) -> str:
    """What the task brings to its host: a command (`run`), a function (`call`) or a `prompt` alone."""
    return "run" if task.run else "call" if task.call else "prompt"


def is_step(task: Task) -> bool:
    """Made by the engine for a family: no backlog knows of it."""
    return isinstance(task.barrier, str)


def claims_of(task: Task) -> Claims:
    """A declared claim as it is; for none declared, the whole workspace if the task runs a command in it.

    Function and model calls have no workspace, and a task with a workspace of its own shares none.
    """
    if task.claims is not None:
        return task.claims
    return WHOLE_WORKSPACE if task.run and not task.workspace else NO_CLAIMS


class Width(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the config says of a host's width. `min == max` pins it."""

    min: int = 1
    start: int | None = None
    max: int | None = None


class Rate(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class Prices(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """In any one currency, for a million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


class Host(Struct, frozen=True, omit_defaults=True):
    """What the core knows of a place attempts run; how to reach it is the executor's business."""

    name: str
    kinds: tuple[str, ...] = ("*",)  # globs
    takes: tuple[str, ...] = ("run", "call", "prompt")  # what a task may bring here, see `form_of`
    width: Width = Width()
    lanes: dict[str, int] = {}  # kind → the most of that kind at once on this host
    rate: Rate | None = None
    fallback: bool = False  # takes a task only when no other host that takes its kind has room
    resources: dict[str, float] = {}  # what it has of what tasks ask for
    prices: Prices | None = None


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """`kind` may start only when at most `left` tasks of kind `after` are unfinished. Both are globs."""

    kind: str
    after: str
    left: int = 0


class Family(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How tasks of one family are done together. The steps are commands; {family} and {round} are filled in."""

    name: str
    host: str
    snapshot: tuple[str, ...]
    disrupt: tuple[str, ...]
    healthy: tuple[str, ...]  # passes once the host is well again; waits for that itself, within bounds
    revert: tuple[str, ...]  # back to the snapshot of this round
    bisect: bool = False  # find out who did the harm; else all of a family that fails are failed
    rank: int = 0  # of those on one host, smaller goes first


class Route(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the results of an app's tasks are delivered; how to reach a sink is not the core's business."""

    app: str
    sinks: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()  # what a task's `reply_to` may begin with; none: no task has a say
    endings: tuple[str, ...] = ("done",)  # of tasks: done, failed
    order: str = "task"  # results of the same app, run, parent or task are delivered one after another


class ProcessHandle(Struct, frozen=True, omit_defaults=True):
    """Enough to find an attempt's processes again after a crash, and never to mistake another for them."""

    pid: int  # also the process group
    born_at: float  # the process's own start time, as the kernel tells it: a reused pid has another
    boot: str = ""  # of which boot of the machine: after another one nothing of it is alive
