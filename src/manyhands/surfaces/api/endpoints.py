"""Every address of `/api/v1` in one table: what it takes, what it answers, and its handler. OpenAPI is made from it."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.apps.evals.eval_progress import EvalProgress
from manyhands.engine.store.store_opening import open_series
from manyhands.surfaces.api import (
    answer_types,
    command_handlers,
    kept_artefacts,
    offline_process,
    output_files,
    pull_handlers,
    query_handlers,
    request_types,
)
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.event_stream import EventStream
from manyhands.surfaces.api.refusals import JSON
from manyhands.surfaces.api.request_types import ApiRequest, read_asked
from manyhands.surfaces.verbs import budget_verbs, grid_verbs, host_verbs, inbox_verbs, run_verbs
from manyhands.surfaces.verbs.plan_verbs import Added
from manyhands.surfaces.verbs.pull_answers import LeaseReport, NextWork, WorkTaken
from manyhands.surfaces.verbs.request_verbs import RequestKept
from manyhands.surfaces.verbs.task_report import TaskReport
from manyhands.surfaces.verbs.task_verbs import TaskList
from manyhands.surfaces.verbs.work_diff import WorkDiff

PREFIX = "/api/v1"

#: Returns a value of the answer type in the table, or a whole response, or an awaitable of one.
Handler = Callable[[ApiContext, ApiRequest], Any]


class Endpoint(NamedTuple):
    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any  # a type, or the media type of an answer that is not JSON
    query: Any = request_types.NoFields
    body: Any = None
    refusals: tuple[int, ...] = ()  # besides those that every endpoint may answer with


def stream(context: ApiContext, asked: ApiRequest) -> EventStream:
    after = asked.query.after or asked.after
    may_command = asked.may_command and context.feed.takes_commands
    return EventStream(context.feed, after, asked.query.run or None, may_command, asked.takes_gzip)


async def series(context: ApiContext, asked: ApiRequest) -> answer_types.SeriesAnswer:
    points = await asyncio.to_thread(_read_series, context, asked.query.since)
    return answer_types.SeriesAnswer(points[-request_types.SAMPLES_MAX :], len(points))


def _read_series(context: ApiContext, since: float) -> list[answer_types.Point]:
    with closing(open_series(context.where)) as kept:
        return [answer_types.point_of(sample) for sample in kept.read(since)]


def _command(
    path: str, summary: str, handler: Handler, body: Any = request_types.NoFields, method: str = "POST"
) -> Endpoint:
    return Endpoint(method, path, summary, handler, RequestKept, body=body, refusals=(404, 409))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        "/stream",
        "Follow a snapshot and then changes as they happen, as server-sent events",
        stream,
        "text/event-stream",
        request_types.StreamQuery,
    ),
    Endpoint(
        "GET",
        "/runs",
        "List the runs of this store, the newest first",
        query_handlers.runs,
        run_verbs.RunList,
        request_types.RunsQuery,
    ),
    Endpoint("GET", "/runs/{run}", "Show one run", query_handlers.run, run_verbs.RunReport, refusals=(404,)),
    Endpoint(
        "GET",
        "/runs/{run}/recording",
        "Record a run from its journal: the first snapshot and every frame, for replay",
        offline_process.recording,
        answer_types.RecordingAnswer,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/export.html",
        "Export the run as one HTML file that opens offline",
        offline_process.export_html,
        "text/html",
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/review.html",
        "Review the run: what happened, and what is left to do about it, as one page",
        offline_process.review_html,
        "text/html",
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/export.trace.json",
        "Export the run as a Chrome trace",
        offline_process.export_trace,
        answer_types.Trace,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/export.log.jsonl",
        "Export the run as a log with lanes: one line of JSON for each start, ending, move and state",
        offline_process.export_log,
        "application/jsonl",
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/grid",
        "Show several runs side by side: how every task came out in each of them",
        query_handlers.grid,
        grid_verbs.RunGrid,
        request_types.GridQuery,
        None,
        (404,),
    ),
    Endpoint(
        "GET",
        "/eval",
        "Show how far an eval is: scores by case and arm, and how the intervals of its lifts have narrowed",
        query_handlers.evaluation,
        EvalProgress,
        request_types.EvalQuery,
        None,
        (404, 409),
    ),
    Endpoint(
        "GET",
        "/tasks",
        "List tasks that match a filter; counts are complete",
        query_handlers.tasks,
        TaskList,
        request_types.TasksQuery,
        None,
        (404,),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}",
        "Show a task, its attempts, and why it is in its state",
        query_handlers.task,
        TaskReport,
        refusals=(404,),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/story",
        "Tell the events of a task in words",
        offline_process.story,
        answer_types.Story,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/output",
        "Read what an attempt printed, starting at a byte",
        output_files.output,
        answer_types.OutputAnswer,
        request_types.OutputQuery,
        refusals=(404,),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/artefact",
        "Save the copy that was kept of a file that an attempt left",
        kept_artefacts.artefact,
        kept_artefacts.MEDIA_TYPE,
        request_types.ArtefactQuery,
        refusals=(404, 409),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/diff",
        "Show the work that waits for approval: its files, what the check printed, and the diff",
        query_handlers.diff,
        WorkDiff,
        refusals=(404, 409),
    ),
    Endpoint(
        "GET",
        "/inbox",
        "List what waits for a person, the most blocking first, each with the command that answers it",
        query_handlers.inbox,
        inbox_verbs.Inbox,
    ),
    Endpoint("GET", "/budgets", "List the budgets and what was spent", query_handlers.budgets, budget_verbs.BudgetList),
    Endpoint("GET", "/hosts", "List the hosts, how wide they are and why", query_handlers.hosts, host_verbs.HostList),
    Endpoint(
        "GET",
        "/lanes",
        "List the lanes: the attempts of one kind on one host",
        query_handlers.lanes,
        host_verbs.LaneList,
    ),
    Endpoint(
        "GET",
        "/widths",
        "List the changes of widths since the dispatcher started",
        query_handlers.widths,
        answer_types.Widths,
        request_types.WidthsQuery,
    ),
    Endpoint(
        "GET",
        "/series",
        "Show throughput, tokens and cost over time",
        series,
        answer_types.SeriesAnswer,
        request_types.SeriesQuery,
        refusals=(503,),
    ),
    Endpoint(
        "POST",
        "/tasks",
        "Add tasks, as `manyhands add` does",
        command_handlers.add,
        Added,
        body=request_types.NewTasks,
        refusals=(404, 409),
    ),
    *(
        Endpoint(
            "POST",
            f"/tasks/{{run}}/{{task}}/{verb}",
            text,
            command_handlers.task_wish(verb),
            RequestKept,
            body=request_types.NoFields,
            refusals=(404, 409),
        )
        for verb, text in (
            ("cancel", "Cancel the task; if it runs it is stopped"),
            ("retry", "Give a fresh set of attempts to a task that failed, was cancelled or was skipped"),
            ("defer", "Defer the task"),
            ("resume", "Let a deferred task continue"),
            ("publish", "Let a draft or a planned task start"),
        )
    ),
    *(
        _command(f"/tasks/{{run}}/{{task}}/{verb}", text, command_handlers.said_to_task(verb), request_types.SaidToTask)
        for verb, text in (
            ("approve", "Let work that waits for approval land"),
            ("send-back", "Have work that waits for approval continued, as the words say"),
            ("reject", "Cancel a task whose work waits for approval"),
            ("answer", "Answer what the task asks"),
        )
    ),
    _command(
        "/tasks/{run}/{task}",
        "Change the priority, needs, title, prompt or stage of a task that waits",
        command_handlers.edit,
        request_types.TaskEdit,
        "PATCH",
    ),
    _command("/runs/{run}/pause", "Start nothing more in this run", command_handlers.pause_run),
    _command("/runs/{run}/resume", "Continue the run", command_handlers.resume_run),
    _command(
        "/runs/{run}/cancel", "Cancel all unfinished tasks of the run", command_handlers.cancel_run, request_types.Why
    ),
    _command(
        "/budgets/{budget}/raise",
        "Allow a budget to be used once more",
        command_handlers.raise_budget,
        request_types.BudgetKey,
    ),
    _command("/hosts/{host}/pause", "Start nothing more on a host", command_handlers.pause_host, request_types.Pause),
    _command("/hosts/{host}/resume", "Let a paused host take tasks again", command_handlers.resume_host),
    _command(
        "/hosts/{host}/width",
        "Set the width of a host, or let the clutch decide again",
        command_handlers.set_width,
        request_types.WidthWanted,
        "PUT",
    ),
)


def _pull(verb: str, summary: str, handler: Handler, answer: Any, body: Any) -> Endpoint:
    return Endpoint("POST", f"/pull/{verb}", summary, handler, answer, body=body, refusals=(404, 409))


ENDPOINTS += (
    _pull(
        "next",
        "Ask for a task as an agent that came by itself; the answer waits for one that may start",
        pull_handlers.next_work,
        NextWork,
        request_types.NextAsked,
    ),
    _pull(
        "report",
        "Renew the lease of a task, and say how it goes",
        pull_handlers.report,
        LeaseReport,
        request_types.ReportAsked,
    ),
    _pull("finish", "Hand in the work on a task", pull_handlers.finish, WorkTaken, request_types.FinishAsked),
    _pull("release", "Give a task or a reservation back", pull_handlers.release, WorkTaken, request_types.ReleaseAsked),
    _pull(
        "reserve",
        "Hold files for work that is in no plan",
        pull_handlers.reserve,
        NextWork,
        request_types.ReserveAsked,
    ),
)


def routes(context: ApiContext) -> list[Route]:
    return [Route(PREFIX + one.path, _served(context, one), methods=[one.method]) for one in ENDPOINTS]


def _served(context: ApiContext, endpoint: Endpoint) -> Callable[[Request], Any]:
    async def serve(request: Request) -> Any:
        asked = await read_asked(request, endpoint.query, endpoint.body)
        answer = endpoint.handler(context, asked)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Response | EventStream):
            return answer
        return Response(msgspec.json.encode(answer), media_type=JSON)

    return serve
