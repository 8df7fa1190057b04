"""Every address of `/api/v1` in one table: what it takes, what it answers, who does. It is its own description."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.api import answers, asking, reading
from manyhands.api.asking import Asked, read_asked
from manyhands.api.office import Office
from manyhands.api.refusals import JSON
from manyhands.api.stream import Stream

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
    return Stream(office.feed, after, asked.query.run, asked.may_command)


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
