"""The tools that only look. What each answers is what its command prints with `--output json`, in an object."""

import time
from pathlib import Path

from msgspec.structs import replace

from manyhands.engine.public_values import fields_of
from manyhands.errors import UsageError
from manyhands.hosts.executors.output_text import tail_of
from manyhands.surfaces.mcp.arguments import (
    AtMost,
    BacklogAt,
    LogWanted,
    NoArguments,
    OfRun,
    OfTask,
    PlanGiven,
    TasksWanted,
)
from manyhands.surfaces.review.review_markdown import as_markdown
from manyhands.surfaces.verbs.host_verbs import host_rows
from manyhands.surfaces.verbs.plan_verbs import HandedIn, check_plan, checked_row
from manyhands.surfaces.verbs.ready_issues import ready_in
from manyhands.surfaces.verbs.review_verbs import review_run
from manyhands.surfaces.verbs.run_verbs import run_row, run_whole
from manyhands.surfaces.verbs.store_view import View, find_run, find_task
from manyhands.surfaces.verbs.task_verbs import (
    TaskReport,
    idle_note,
    left_by,
    matching,
    reasons_for,
    task_row,
    task_whole,
)

#: Of what was added, did not end well or is odd in a backlog; the totals are complete.
LISTED_MAX = 50
#: Clients cut or refuse answers beyond some 25,000 tokens; a single text leaves room for the rest.
TEXT_CHARACTERS_MAX = 60_000
#: Of an attempt's output: what an agent can take in at once.
LOG_BYTES_MAX = 32 << 10

Answer = dict[str, object]


def task_list(view: View, asked: TasksWanted) -> Answer:
    run = find_run(view.book, asked.run)
    found = matching(run, asked.state, asked.kind)
    now = time.time()
    return {
        "run": run.name,
        "tasks": [task_row(view.book, record, now) for record in found[: asked.limit]],
        "total": len(found),
        "counts": {str(state): n for state, n in run.counts.items()},
        "note": idle_note(view, run),
    }


def task_show(view: View, asked: OfTask) -> TaskReport:
    record = find_task(view.book, asked.task, asked.run)
    return replace(task_whole(view, record), plan=fields_of(record.task))


def task_explain(view: View, asked: OfTask) -> Answer:
    record = find_task(view.book, asked.task, asked.run)
    return {
        "task": record.task.id,
        "run": record.run,
        "state": str(record.state),
        "why": reasons_for(view, record),
    }


def task_log(view: View, asked: LogWanted) -> Answer:
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
        "ending": str(ending.kind) if ending is not None else None,
        "result": results or (ending.result if ending is not None else ""),
        "output": "\n".join(lines[-asked.lines :]),
        "output_bytes": size,
        "is_whole": size <= LOG_BYTES_MAX and len(lines) <= asked.lines,
    }


def _beginning(file: Path) -> str:
    """A result may be as large as it likes; more than this is cut on the way out."""
    with file.open(encoding="utf-8", errors="replace") as text:
        return text.read(2 * TEXT_CHARACTERS_MAX)


def runs_list(view: View, asked: AtMost) -> Answer:
    runs = list(view.book.runs.values())[::-1]
    return {"runs": [run_row(run) for run in runs[: asked.limit]], "total": len(runs)}


def runs_show(view: View, asked: OfRun) -> Answer:
    whole = run_whole(find_run(view.book, asked.run))
    not_done = whole["not_done"]
    assert isinstance(not_done, list)
    return {**whole, "not_done": not_done[:LISTED_MAX], "not_done_total": len(not_done)}


def review(view: View, asked: OfRun) -> Answer:
    told = review_run(view, asked.run)
    return {"run": told.run, "markdown": as_markdown(told)}


def host_list(view: View, asked: NoArguments) -> Answer:
    return {"hosts": host_rows(view)}


def backlog_ready(view: View, asked: BacklogAt) -> Answer:
    ready = ready_in(Path(asked.directory))
    return {
        "tasks": ready.tasks[: asked.limit],
        "total": len(ready.tasks),
        "unfinished": ready.unfinished,
        "closed": ready.closed,
        "problems": [*ready.warnings, *ready.problems][:LISTED_MAX],
        "problems_total": len(ready.warnings) + ready.problems_total,
    }


def plan_check(view: View, asked: PlanGiven) -> Answer:
    return checked_row(check_plan(view.config, handed_in(asked)))


def handed_in(given: PlanGiven) -> HandedIn:
    if bool(given.files) == bool(given.tasks):
        hint = '`tasks`: [{"id": "lint", "run": ["ruff", "check"]}], or `files`: ["plan.toml"]'
        raise UsageError("give either `files` or `tasks`", hint)
    return HandedIn([Path(file) for file in given.files], given.tasks, "tasks")
