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

Answered = TypeVar("Answered", bound=msgspec.Struct)


def safe(office: ApiContext, answer: Answered) -> Answered:
    """The same answer without secrets, and with long texts cut."""
    plain: Any = within(msgspec.to_builtins(answer), office.redact, FIELD_CHARACTERS_MAX)
    return msgspec.convert(plain, type(answer))


def runs(office: ApiContext, asked: ApiRequest) -> run_verbs.RunList:
    query: RunsQuery = asked.query
    return safe(office, run_verbs.list_runs(office, query.limit, query.offset))


def run(office: ApiContext, asked: ApiRequest) -> run_verbs.RunReport:
    return safe(office, run_verbs.report_run(find_run(office.book, asked.path["run"]), LIMIT_MAX))


def tasks(office: ApiContext, asked: ApiRequest) -> TaskList:
    query: TasksQuery = asked.query
    looked_at = [find_run(office.book, query.run)] if query.run else list(office.book.runs.values())[::-1]
    ids = frozenset(query.ids.split(",") if query.ids else ())
    wanted = TaskFilter(query.state or None, query.kind or None, query.host or None, query.q, query.file, ids)
    found = list_tasks(office, looked_at, wanted, query.limit, query.offset)
    return replace(found, tasks=[_readable(office, row) for row in found.tasks])


def _readable(office: ApiContext, row: TaskRow) -> TaskRow:
    return replace(row, title=short(row.title, office.redact), why=short(row.why, office.redact))


def task(office: ApiContext, asked: ApiRequest) -> TaskReport:
    return safe(office, report_task(office, find_task(office.book, asked.path["task"], asked.path["run"])))


async def diff(office: ApiContext, asked: ApiRequest) -> WorkDiff:
    record = find_task(office.book, asked.path["task"], asked.path["run"])
    found = await asyncio.to_thread(work_diff, office, record)
    bounded = safe(office, replace(found, diff="", files=found.files[:LIMIT_MAX]))
    return replace(bounded, diff=office.redact(found.diff))


def inbox(office: ApiContext, asked: ApiRequest) -> inbox_verbs.Inbox:
    return safe(office, inbox_verbs.list_inbox(office, LIMIT_MAX))


def grid(office: ApiContext, asked: ApiRequest) -> grid_verbs.RunGrid:
    found = grid_verbs.grid_of(office, asked.query.runs.split(",") if asked.query.runs else ())
    runs = [replace(row, source=short(row.source, office.redact)) for row in found.runs]
    tasks = [replace(row, title=short(row.title, office.redact)) for row in found.tasks]
    return replace(found, runs=runs, tasks=tasks)


def budgets(office: ApiContext, asked: ApiRequest) -> budget_verbs.BudgetList:
    return safe(office, budget_verbs.list_budgets(office))


def evaluation(office: ApiContext, asked: ApiRequest) -> EvalProgress:
    return safe(office, eval_verbs.show_eval(office, asked.query.eval or None))


def hosts(office: ApiContext, asked: ApiRequest) -> host_verbs.HostList:
    return safe(office, host_verbs.list_hosts(office))


def lanes(office: ApiContext, asked: ApiRequest) -> host_verbs.LaneList:
    return safe(office, host_verbs.list_lanes(office))


def widths(office: ApiContext, asked: ApiRequest) -> answer_types.Widths:
    query: WidthsQuery = asked.query
    office.feed.catch_up()
    moves = office.feed.picture.widths(query.host or None, query.since)
    return answer_types.Widths([answer_types.WidthMove(**move) for move in moves], len(moves))
