"""The table of all tools: the nouns and verbs of the command line."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from manyhands.surfaces.mcp import changing_tools, reading_tools
from manyhands.surfaces.mcp.arguments import (
    AtMost,
    BacklogAt,
    HostWidthWanted,
    LogWanted,
    NoArguments,
    OfHost,
    OfRun,
    OfTask,
    PauseWanted,
    PlanGiven,
    TasksToAdd,
    TasksWanted,
)
from manyhands.surfaces.verbs.store_view import View


class Tool(NamedTuple):
    name: str
    about: str
    takes: type[Struct]
    do: Callable[[View, Any], object]
    changes: bool = False
    destroys: bool = False  # work under way, or the chance of it


_LOOKING = (
    Tool(
        "plan_check",
        "Check tasks or plan files without running anything: all that is wrong with them, or how many there are, how "
        "deep their chain of needs is, and the ceiling, the most that could run at once given needs and claims. "
        "Takes tasks with the same fields as `add`.",
        PlanGiven,
        reading_tools.plan_check,
    ),
    Tool(
        "task_list",
        "List the tasks of a run, those in flight and in trouble first, each with its state and why it is in it; "
        "with the counts of all states. States: blocked, ready, running, backoff, deferred, done, failed, cancelled, "
        "skipped.",
        TasksWanted,
        reading_tools.task_list,
    ),
    Tool(
        "task_show",
        "Everything about one task: its fields, its state and why, and how each attempt at it ended.",
        OfTask,
        reading_tools.task_show,
    ),
    Tool(
        "task_explain",
        "Why a task is where it is, with numbers; the first reason is what it waits for now.",
        OfTask,
        reading_tools.task_explain,
    ),
    Tool(
        "task_log",
        "What an attempt at a task has returned (`result`) and the last lines of what it has printed (`output`), "
        "also while it runs.",
        LogWanted,
        reading_tools.task_log,
    ),
    Tool(
        "runs_list",
        "List the runs of this store with the counts of their tasks, the newest first.",
        AtMost,
        reading_tools.runs_list,
    ),
    Tool(
        "runs_show",
        "One run: its counts, its kinds, how many attempts ran at once, and what did not end well.",
        OfRun,
        reading_tools.runs_show,
    ),
    Tool(
        "review",
        "What happened in a run, as Markdown: goal, outcome, next steps, key decisions, open questions.",
        OfRun,
        reading_tools.review,
    ),
    Tool(
        "host_list",
        "List the hosts, the places where attempts run: the kinds they take, their width (how many attempts may be in "
        "flight) and why it is that, and how many are.",
        NoArguments,
        reading_tools.host_list,
    ),
    Tool(
        "backlog_ready",
        "What may be worked on now in a Beads backlog, in the order of Beads; epics are left out.",
        BacklogAt,
        reading_tools.backlog_ready,
    ),
)

_CHANGING = (
    Tool(
        "add",
        "Add tasks for the dispatcher that runs now, or else the one that runs next (`heard` says which). All are "
        "added or, if anything is wrong with one, none. A command that declares no claims has the workspace alone: "
        "declare `claims`, {} if it touches nothing, so that tasks run side by side.",
        TasksToAdd,
        changing_tools.add,
        changes=True,
    ),
    Tool(
        "task_cancel",
        "Take a task off; if it runs it is stopped, and what needs it is skipped.",
        OfTask,
        changing_tools.task_wish("cancel"),
        changes=True,
        destroys=True,
    ),
    Tool(
        "task_retry",
        "Give a task that failed, was cancelled or skipped a fresh set of attempts, and those skipped because of it.",
        OfTask,
        changing_tools.task_wish("retry"),
        changes=True,
    ),
    Tool("task_defer", "Put a task off until task_resume.", OfTask, changing_tools.task_wish("defer"), changes=True),
    Tool("task_resume", "Let a deferred task go on.", OfTask, changing_tools.task_wish("resume"), changes=True),
    Tool(
        "host_pause",
        "Start nothing more on a host until host_resume; what is in flight there settles.",
        PauseWanted,
        changing_tools.host_pause,
        changes=True,
    ),
    Tool("host_resume", "Let a paused host take tasks again.", OfHost, changing_tools.host_resume, changes=True),
    Tool(
        "host_width",
        "Pin the width of a host, how many attempts may be in flight there, or free it again.",
        HostWidthWanted,
        changing_tools.host_width,
        changes=True,
    ),
)


def tools(read_only: bool) -> Mapping[str, Tool]:
    return {tool.name: tool for tool in (*_LOOKING, *(() if read_only else _CHANGING))}
