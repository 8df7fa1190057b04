"""Every address of `/api/v1` in one table: what it takes, what it answers, who does. It is its own description."""

import asyncio
import inspect
from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.api import answers, aside, asking, commands, files, reading
from manyhands.api.asking import Asked, read_asked
from manyhands.api.office import Office
from manyhands.api.refusals import JSON
from manyhands.api.stream import Stream
from manyhands.store.opening import open_series

PREFIX = "/api/v1"

#: A value of the table's type of answer, or a whole response; or a promise of one.
Handler = Callable[[Office, Asked], Any]


class Endpoint(NamedTuple):
    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any  # a type, or the media type of what is no JSON
    query: Any = asking.Nothing
    body: Any = None
    refusals: tuple[int, ...] = ()  # besides those that any request may meet


def stream(office: Office, asked: Asked) -> Stream:
    after = asked.query.after or asked.after
    return Stream(office.feed, after, asked.query.run or None, asked.may_command, asked.takes_gzip)


async def series(office: Office, asked: Asked) -> answers.Series:
    points = await asyncio.to_thread(_read_series, office, asked.query.since)
    return answers.Series(points[-asking.SAMPLES_MAX :], len(points))


def _read_series(office: Office, since: float) -> list[answers.Point]:
    with closing(open_series(office.where)) as kept:
        return [answers.point_of(sample) for sample in kept.read(since)]


def _command(path: str, summary: str, handler: Handler, body: Any = asking.Nothing, method: str = "POST") -> Endpoint:
    return Endpoint(method, path, summary, handler, answers.Done, body=body, refusals=(404, 409))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        "/stream",
        "A snapshot, then changes as they happen, as server-sent events",
        stream,
        "text/event-stream",
        asking.StreamQuery,
    ),
    Endpoint("GET", "/runs", "The runs of this store, the newest first", reading.runs, answers.Runs, asking.RunsQuery),
    Endpoint("GET", "/runs/{run}", "One run", reading.run, answers.RunRow, refusals=(404,)),
    Endpoint(
        "GET",
        "/runs/{run}/recording",
        "A run from its journal: the first snapshot and every frame, for replay",
        aside.recording,
        answers.Recording,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/export.html",
        "The run as one file that opens offline",
        aside.export_html,
        "text/html",
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/runs/{run}/export.trace.json",
        "The run as a Chrome trace",
        aside.export_trace,
        answers.Trace,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/tasks",
        "Tasks, filtered; counts are complete",
        reading.tasks,
        answers.Tasks,
        asking.TasksQuery,
        None,
        (404,),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}",
        "A task, its attempts, and why it is where it is",
        reading.task,
        answers.TaskDetail,
        refusals=(404,),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/story",
        "The events of a task, told",
        aside.story,
        answers.Story,
        refusals=(404, 429, 503),
    ),
    Endpoint(
        "GET",
        "/tasks/{run}/{task}/output",
        "What an attempt printed, from a byte on",
        files.output,
        answers.Output,
        asking.OutputQuery,
        refusals=(404,),
    ),
    Endpoint("GET", "/hosts", "Hosts, how wide they are and why", reading.hosts, answers.Hosts),
    Endpoint("GET", "/lanes", "Lanes: the attempts of one kind on one host", reading.lanes, answers.Lanes),
    Endpoint(
        "GET",
        "/widths",
        "Moves of widths since the dispatcher started",
        reading.widths,
        answers.Widths,
        asking.WidthsQuery,
    ),
    Endpoint(
        "GET",
        "/series",
        "Throughput, tokens and cost over time",
        series,
        answers.Series,
        asking.SeriesQuery,
        refusals=(503,),
    ),
    Endpoint(
        "POST",
        "/tasks",
        "Add tasks, as `manyhands add` does",
        commands.add,
        answers.Added,
        body=asking.NewTasks,
        refusals=(404, 409),
    ),
    *(
        Endpoint(
            "POST",
            f"/tasks/{{run}}/{{task}}/{verb}",
            text,
            commands.task_wish(verb),
            answers.Done,
            body=asking.Nothing,
            refusals=(404, 409),
        )
        for verb, text in (
            ("cancel", "Take the task off; if it runs it is stopped"),
            ("retry", "A fresh set of attempts for a task that did not end well"),
            ("defer", "Put the task off"),
            ("resume", "Let a deferred task go on"),
        )
    ),
    _command("/runs/{run}/pause", "Start nothing more in this run", commands.pause_run),
    _command("/runs/{run}/resume", "Go on with the run", commands.resume_run),
    _command("/runs/{run}/cancel", "Cancel all that is unfinished", commands.cancel_run, asking.Why),
    _command("/hosts/{host}/pause", "Let a host take nothing more", commands.pause_host, asking.Pause),
    _command("/hosts/{host}/resume", "Let a paused host go on", commands.resume_host),
    _command("/hosts/{host}/width", "Set a host's width, or free it", commands.set_width, asking.WidthWanted, "PUT"),
)


def routes(office: Office) -> list[Route]:
    return [Route(PREFIX + one.path, _served(office, one), methods=[one.method]) for one in ENDPOINTS]


def _served(office: Office, endpoint: Endpoint) -> Callable[[Request], Any]:
    async def serve(request: Request) -> Any:
        asked = await read_asked(request, endpoint.query, endpoint.body)
        answer = endpoint.handler(office, asked)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Response | Stream):
            return answer
        return Response(msgspec.json.encode(answer), media_type=JSON)

    return serve
