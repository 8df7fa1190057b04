"""A task as a plan file states it, and the states it can be in.

One definition serves plan files, the journal and the wire. Every value here is immutable.
"""

import enum
from typing import Any, assert_never

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


def _is_end(state: TaskState) -> bool:
    match state:
        case TaskState.DONE | TaskState.FAILED | TaskState.CANCELLED | TaskState.SKIPPED:
            return True
        case TaskState.BLOCKED | TaskState.READY | TaskState.RUNNING | TaskState.BACKOFF | TaskState.DEFERRED:
            return False
        case _:
            assert_never(state)


#: States that a task leaves only if a person asks for another go.
TERMINAL = frozenset(state for state in TaskState if _is_end(state))


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
