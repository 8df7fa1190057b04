"""The table of all tools: the nouns and verbs of the command line."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from manyhands.surfaces.mcp import changing_tools, pulling_tools, reading_tools
from manyhands.surfaces.mcp.arguments import (
    AtMost,
    BacklogAt,
    EditWanted,
    FilesWanted,
    GivenBack,
    HostWidthWanted,
    LogWanted,
    NextWanted,
    NoArguments,
    NoteGiven,
    OfHost,
    OfRun,
    OfTask,
    PauseWanted,
    PlanGiven,
    ProgressSaid,
    QuestionPut,
    ReviewWanted,
    SaidToWaiting,
    TasksToAdd,
    TasksWanted,
    WorkDone,
)
from manyhands.surfaces.mcp.pulling_tools import PullWork, over_store
from manyhands.surfaces.verbs.store_view import View


class Tool(NamedTuple):
    name: str
    about: str
    takes: type[Struct]
    do: Callable[[View, Any], object]
    changes: bool = False
    destroys: bool = False  # it may stop running work, or prevent work
    live: PullWork | None = None  # the same in the process of the dispatcher, for tools that wait for it


_LOOKING = (
    Tool(
        "plan_check",
        "Check tasks or plan files without running anything. The answer lists everything that is wrong with them. "
        "For a sound plan it has the number of tasks, the depth (the longest chain of needs) and the ceiling (the most "
        "tasks that could run at once, given needs and claims). It takes tasks with the same fields as `add`.",
        PlanGiven,
        reading_tools.plan_check,
    ),
    Tool(
        "task_list",
        "List the tasks of a run: running tasks and failed ones come first. Each has its state and the reason for it. "
        "The answer also counts the tasks in every state: blocked, ready, running, backoff, deferred, needs_person, "
        "done, failed, cancelled, skipped.",
        TasksWanted,
        reading_tools.task_list,
    ),
    Tool(
        "task_show",
        "Show everything about one task: its fields, its state and why, and how each attempt at it ended.",
        OfTask,
        reading_tools.task_show,
    ),
    Tool(
        "task_explain",
        "Explain why a task is in its state, with numbers. The first reason is what it waits for now.",
        OfTask,
        reading_tools.task_explain,
    ),
    Tool(
        "task_log",
        "Show what an attempt at a task returned (`result`) and the last lines it printed (`output`). This also works "
        "while the attempt runs.",
        LogWanted,
        reading_tools.task_log,
    ),
    Tool(
        "task_diff",
        "Show the work of a task that waits for approval: its files, what its check printed, and the diff.",
        OfTask,
        reading_tools.task_diff,
    ),
    Tool(
        "runs_list",
        "List the runs of this store with the counts of their tasks, the newest run first.",
        AtMost,
        reading_tools.runs_list,
    ),
    Tool(
        "runs_show",
        "Show one run: its counts, its kinds, how many attempts ran at once, and the tasks that are not done.",
        OfRun,
        reading_tools.runs_show,
    ),
    Tool(
        "review",
        "Tell what happened in a run, in one epic of it, or in all runs of a period, as Markdown: goal, outcome, next "
        "steps, key decisions, open questions.",
        ReviewWanted,
        reading_tools.review,
    ),
    Tool(
        "handoff",
        "Tell what the next agent must know of a run, in at most 2,000 words of Markdown: where it stands, what waits, "
        "and what earlier tasks decided, learned and left open.",
        OfRun,
        reading_tools.handoff,
    ),
    Tool(
        "host_list",
        "List the hosts, the places where attempts run. Each has the kinds it takes, its width (how many attempts may "
        "run there at once), the reason for that width, and how many attempts run there now.",
        NoArguments,
        reading_tools.host_list,
    ),
    Tool(
        "inbox",
        "List what waits for a person, the most blocking first: approvals, questions, tasks and hosts that need one, "
        "failures that hold up other tasks, closed accounts, budgets that are used up. Each item has the command that "
        "answers it.",
        AtMost,
        reading_tools.inbox,
    ),
    Tool(
        "budget_list",
        "List the budgets: what each run, host, account or day may cost, and what was spent of it, with what running "
        "attempts are expected to cost. Only a person can raise one.",
        NoArguments,
        reading_tools.budget_list,
    ),
    Tool(
        "backlog_ready",
        "List the issues of a Beads backlog that may run now, in the order of Beads. Epics are left out.",
        BacklogAt,
        reading_tools.backlog_ready,
    ),
)

_CHANGING = (
    Tool(
        "add",
        "Add tasks for the dispatcher that runs now, or for the next one (`heard` is true or false). If anything is "
        "wrong with one of them, none is added. A command without `claims` runs alone in the workspace. Declare "
        "`claims`, or {} if it touches nothing, so that tasks run side by side.",
        TasksToAdd,
        changing_tools.add,
        changes=True,
    ),
    Tool(
        "task_cancel",
        "Cancel a task. If it runs it is stopped, and tasks that need it are skipped.",
        OfTask,
        changing_tools.task_wish("cancel"),
        changes=True,
        destroys=True,
    ),
    Tool(
        "task_retry",
        "Give a fresh set of attempts to a task that failed, was cancelled or was skipped. Tasks that were skipped "
        "because of it get one too.",
        OfTask,
        changing_tools.task_wish("retry"),
        changes=True,
    ),
    Tool("task_defer", "Defer a task until task_resume.", OfTask, changing_tools.task_wish("defer"), changes=True),
    Tool(
        "task_publish",
        "Let a task start whose stage is draft or planned.",
        OfTask,
        changing_tools.task_wish("publish"),
        changes=True,
    ),
    Tool(
        "task_edit",
        "Change the priority, the needs, the title, the prompt or the stage of a task that waits. What you leave out "
        "stays. The change stays until the plan says something else about the same field.",
        EditWanted,
        changing_tools.task_edit,
        changes=True,
    ),
    Tool("task_resume", "Let a deferred task continue.", OfTask, changing_tools.task_wish("resume"), changes=True),
    Tool(
        "ask",
        "Ask a person something that only a person can decide, while you work on a task. The answer may come at once. "
        "Otherwise you are told to end your turn, and are resumed with the answer, or to ask the same question again.",
        QuestionPut,
        changing_tools.ask_a_person,
        changes=True,
    ),
    Tool(
        "note",
        "Note what others should know later, while you work on a task: what you decided, what is still open, what the "
        "next one should know. It is in the task, the review and the handoff once your attempt has ended.",
        NoteGiven,
        changing_tools.note,
        changes=True,
    ),
    *(
        Tool(
            f"task_{verb.replace('-', '_')}",
            about,
            SaidToWaiting,
            changing_tools.say_to_task(verb),
            True,
            verb == "reject",
        )
        for verb, about in (
            ("approve", "Let work that waits for approval land, as a person has told you to. Look at task_diff first."),
            ("send-back", "Have work that waits for approval continued. The next attempt is told the words."),
            ("reject", "Cancel a task whose work waits for approval, as a person has told you to."),
            ("answer", "Answer what a task asks, in the words of a person."),
        )
    ),
    Tool(
        "host_pause",
        "Start nothing more on a host until host_resume. Attempts that run there finish.",
        PauseWanted,
        changing_tools.host_pause,
        changes=True,
    ),
    Tool("host_resume", "Let a paused host take tasks again.", OfHost, changing_tools.host_resume, changes=True),
    Tool(
        "host_width",
        "Set the width of a host: how many attempts may run there at once. Leave the width out to let the clutch "
        "decide again.",
        HostWidthWanted,
        changing_tools.host_width,
        changes=True,
    ),
)


def _pulling(name: str, about: str, takes: type[Struct], work: PullWork) -> Tool:
    return Tool(name, about, takes, over_store(work), changes=True, live=work)


_PULLING = (
    _pulling(
        "pull_next",
        "Take a task as an agent that comes by itself. The dispatcher chooses it: by priority, needs and free claims. "
        "You hold it on a lease: call pull_report before `until`, or the attempt is lost and another agent gets the "
        "task. Touch only what `claims` names. Asked again, you get the task that you hold. `work` is null if none may "
        "start now; `left` says how many are unfinished.",
        NextWanted,
        pulling_tools.pull_next,
    ),
    _pulling(
        "pull_report",
        "Renew your lease, with a line on your progress and what you have used so far. If `stop` in the answer is not "
        "empty, stop working and call pull_release.",
        ProgressSaid,
        pulling_tools.pull_report,
    ),
    _pulling(
        "pull_finish",
        "Hand in your work: done, failed or overloaded. The check of the task runs then, and must pass. It is refused "
        "if your lease has run out.",
        WorkDone,
        pulling_tools.pull_finish,
    ),
    _pulling(
        "pull_release",
        "Give a task back that you cannot do, or files that you reserved. It costs the task no attempt.",
        GivenBack,
        pulling_tools.pull_release,
    ),
    _pulling(
        "pull_reserve",
        "Reserve files for work that is in no plan, so that no task touches them meanwhile. It is a lease like that of "
        "a task: renew it with pull_report, and free the files with pull_release.",
        FilesWanted,
        pulling_tools.pull_reserve,
    ),
)


def tools(read_only: bool) -> Mapping[str, Tool]:
    return {tool.name: tool for tool in (*_LOOKING, *(() if read_only else (*_CHANGING, *_PULLING)))}
