"""The answers to questions: runs, tasks, hosts and lanes as they are now."""

import asyncio
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from manyhands.apps.evals.eval_progress import EvalProgress
from manyhands.engine.public_values import within
from manyhands.surfaces.api import answer_types
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.picture.picture_rows import short
from manyhands.surfaces.api.request_types import LIMIT_MAX, ApiRequest, RunsQuery, TasksQuery, WidthsQuery
from manyhands.surfaces.verbs import budget_verbs, eval_verbs, grid_verbs, host_verbs, inbox_verbs, run_verbs
from manyhands.surfaces.verbs.store_view import find_run, find_task
from manyhands.surfaces.verbs.task_report import TaskReport, report_task
from manyhands.surfaces.verbs.task_verbs import TaskFilter, TaskList, TaskRow, list_tasks
from manyhands.surfaces.verbs.work_diff import WorkDiff, work_diff

#: A prompt may be megabytes; a page shows its beginning.
FIELD_CHARACTERS_MAX = 20_000

QueryAnswer = TypeVar("QueryAnswer", bound=msgspec.Struct)


def safe(context: ApiContext, answer: QueryAnswer) -> QueryAnswer:
    """The same answer without secrets, and with long texts cut."""
    plain: Any = within(msgspec.to_builtins(answer), context.redact, FIELD_CHARACTERS_MAX)
    return msgspec.convert(plain, type(answer))


def runs(context: ApiContext, asked: ApiRequest) -> run_verbs.RunList:
    query: RunsQuery = asked.query
    return safe(context, run_verbs.list_runs(context, query.limit, query.offset))


def run(context: ApiContext, asked: ApiRequest) -> run_verbs.RunReport:
    return safe(context, run_verbs.report_run(find_run(context.book, asked.path["run"]), LIMIT_MAX))


def tasks(context: ApiContext, asked: ApiRequest) -> TaskList:
    query: TasksQuery = asked.query
    looked_at = [find_run(context.book, query.run)] if query.run else list(context.book.runs.values())[::-1]
    ids = frozenset(query.ids.split(",") if query.ids else ())
    wanted = TaskFilter(query.state or None, query.kind or None, query.host or None, query.q, query.file, ids)
    found = list_tasks(context, looked_at, wanted, query.limit, query.offset)
    return replace(found, tasks=[_readable(context, row) for row in found.tasks])


def _readable(context: ApiContext, row: TaskRow) -> TaskRow:
    return replace(row, title=short(row.title, context.redact), why=short(row.why, context.redact))


def task(context: ApiContext, asked: ApiRequest) -> TaskReport:
    return safe(context, report_task(context, find_task(context.book, asked.path["task"], asked.path["run"])))


async def diff(context: ApiContext, asked: ApiRequest) -> WorkDiff:
    record = find_task(context.book, asked.path["task"], asked.path["run"])
    found = await asyncio.to_thread(work_diff, context, record)
    bounded = safe(context, replace(found, diff="", files=found.files[:LIMIT_MAX]))
    return replace(bounded, diff=context.redact(found.diff))


def inbox(context: ApiContext, asked: ApiRequest) -> inbox_verbs.Inbox:
    return safe(context, inbox_verbs.list_inbox(context, LIMIT_MAX))


def grid(context: ApiContext, asked: ApiRequest) -> grid_verbs.RunGrid:
    found = grid_verbs.grid_of(context, asked.query.runs.split(",") if asked.query.runs else (), asked.query.run)
    runs = [replace(row, source=short(row.source, context.redact)) for row in found.runs]
    tasks = [replace(row, title=short(row.title, context.redact)) for row in found.tasks]
    return replace(found, runs=runs, tasks=tasks)


def budgets(context: ApiContext, asked: ApiRequest) -> budget_verbs.BudgetList:
    return safe(context, budget_verbs.list_budgets(context))


def evaluation(context: ApiContext, asked: ApiRequest) -> EvalProgress:
    return safe(context, eval_verbs.show_eval(context, asked.query.eval or None))


def hosts(context: ApiContext, asked: ApiRequest) -> host_verbs.HostList:
    return safe(context, host_verbs.list_hosts(context))


def lanes(context: ApiContext, asked: ApiRequest) -> host_verbs.LaneList:
    return safe(context, host_verbs.list_lanes(context))


def widths(context: ApiContext, asked: ApiRequest) -> answer_types.Widths:
    query: WidthsQuery = asked.query
    context.feed.catch_up()
    moves = context.feed.picture.widths(query.host or None, query.since)
    return answer_types.Widths([answer_types.WidthMove(**move) for move in moves], len(moves))
