"""The tools that only read. Each answers with the fields that its command prints with `--output json`."""

from pathlib import Path

from msgspec.structs import replace

from manyhands.errors import UsageError
from manyhands.hosts.executors.output_text import tail_of
from manyhands.readers.plain_file import open_plain
from manyhands.surfaces.mcp.arguments import (
    AtMost,
    BacklogAt,
    LogWanted,
    NoArguments,
    OfRun,
    OfTask,
    PlanGiven,
    ReviewWanted,
    TasksWanted,
)
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.review.review_types import Review
from manyhands.surfaces.verbs import review_verbs
from manyhands.surfaces.verbs.attempt_output import left_by
from manyhands.surfaces.verbs.budget_verbs import BudgetList, list_budgets
from manyhands.surfaces.verbs.handoff_verbs import as_handoff_text, hand_over
from manyhands.surfaces.verbs.host_verbs import HostList, list_hosts
from manyhands.surfaces.verbs.inbox_verbs import Inbox, list_inbox
from manyhands.surfaces.verbs.plan_verbs import HandedIn, check_plan, checked_row
from manyhands.surfaces.verbs.ready_issues import ready_in
from manyhands.surfaces.verbs.run_verbs import RunList, RunReport, list_runs, report_run
from manyhands.surfaces.verbs.store_view import View, find_run, find_task
from manyhands.surfaces.verbs.task_report import TaskReport, report_task
from manyhands.surfaces.verbs.task_verbs import Explained, TaskFilter, TaskList, explain_task, list_tasks
from manyhands.surfaces.verbs.work_diff import WorkDiff, work_diff

#: The most tasks or problems in one answer; the totals are complete.
LISTED_MAX = 50
#: Clients cut or refuse answers beyond some 25,000 tokens; a single text leaves room for the rest.
TEXT_CHARACTERS_MAX = 60_000
#: How much of the output of an attempt an answer may have.
LOG_BYTES_MAX = 32 << 10

AnswerFields = dict[str, object]


def task_list(view: View, asked: TasksWanted) -> TaskList:
    run = find_run(view.book, asked.run)
    return list_tasks(view, [run], TaskFilter(asked.state, asked.kind), asked.limit)


def task_show(view: View, asked: OfTask) -> TaskReport:
    return report_task(view, find_task(view.book, asked.task, asked.run))


def task_explain(view: View, asked: OfTask) -> Explained:
    return explain_task(view, find_task(view.book, asked.task, asked.run))


def task_log(view: View, asked: LogWanted) -> AnswerFields:
    left = left_by(view, asked.task, asked.run, asked.attempt)
    ending = left.ending
    results = "\n".join(_beginning(file) for file in left.results)
    if left.output is not None:
        output, size = tail_of(left.output, bytes_max=LOG_BYTES_MAX), left.output.stat().st_size
    else:
        output = ending.tail if ending is not None else ""
        size = len(output)
    if ending is None:  # half a line may be half a secret
        output = output[: output.rfind("\n") + 1]
    lines = output.splitlines()
    return {
        "task": left.record.task.id,
        "run": left.record.run,
        "attempt": left.number,
        "ending": ending.word if ending is not None else None,
        "result": results or (ending.result if ending is not None else ""),
        "output": "\n".join(lines[-asked.lines :]),
        "output_bytes": size,
        "is_whole": size <= LOG_BYTES_MAX and len(lines) <= asked.lines,
    }


def _beginning(file: Path) -> str:
    """The beginning of a result, which may be very large. The answer is cut once more before it is sent."""
    with open(open_plain(file), encoding="utf-8", errors="replace") as text:
        return text.read(2 * TEXT_CHARACTERS_MAX)


def task_diff(view: View, asked: OfTask) -> WorkDiff:
    found = work_diff(view, find_task(view.book, asked.task, asked.run))
    is_cut = found.is_cut or len(found.diff) > TEXT_CHARACTERS_MAX
    return replace(found, files=found.files[:LISTED_MAX], diff=found.diff[:TEXT_CHARACTERS_MAX], is_cut=is_cut)


def runs_list(view: View, asked: AtMost) -> RunList:
    return list_runs(view, asked.limit)


def runs_show(view: View, asked: OfRun) -> RunReport:
    return report_run(find_run(view.book, asked.run), LISTED_MAX)


def review(view: View, asked: ReviewWanted) -> AnswerFields:
    told = review_verbs.review(view, asked.run, asked.epic or "", asked.since, asked.until)
    runs = {"run": told.run} if isinstance(told, Review) else {"runs": [segment.run for segment in told.segments]}
    return {**runs, "markdown": as_markdown(told)}


def handoff(view: View, asked: OfRun) -> AnswerFields:
    told = hand_over(view, asked.run)
    return {"run": told.run, "markdown": as_handoff_text(told)}


def inbox(view: View, asked: AtMost) -> Inbox:
    return list_inbox(view, asked.limit)


def budget_list(view: View, asked: NoArguments) -> BudgetList:
    return list_budgets(view)


def host_list(view: View, asked: NoArguments) -> HostList:
    return list_hosts(view)


def backlog_ready(view: View, asked: BacklogAt) -> AnswerFields:
    ready = ready_in(Path(asked.directory), view.config)
    return {
        "tasks": ready.tasks[: asked.limit],
        "total": len(ready.tasks),
        "unfinished": ready.unfinished,
        "closed": ready.closed,
        "problems": [*ready.warnings, *ready.problems][:LISTED_MAX],
        "problems_total": len(ready.warnings) + ready.problems_total,
    }


def plan_check(view: View, asked: PlanGiven) -> AnswerFields:
    return checked_row(check_plan(view, handed_in(asked)))


def handed_in(given: PlanGiven) -> HandedIn:
    if bool(given.files) == bool(given.tasks):
        hint = '`tasks`: [{"id": "lint", "run": ["ruff", "check"]}], or `files`: ["plan.toml"]'
        raise UsageError("give either `files` or `tasks`", hint)
    return HandedIn([Path(file) for file in given.files], given.tasks, "tasks")
