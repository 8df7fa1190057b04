"""Errors as answers: the same message and hint as on the command line, and a status that says who can act."""

from collections.abc import Mapping

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from manyhands.errors import Conflict, ManyhandsError, Unavailable, UnknownHost, UnknownRun, UnknownTask, UsageError
from manyhands.sources.plans.plan_reading import PlanRefused

JSON = "application/json"


class Refusal(msgspec.Struct, omit_defaults=True):
    """What is wrong, and what to do about it."""

    error: str
    hint: str = ""
    field: str = ""  # the field of the query or body that is wrong, if it is one


class BadRequest(UsageError):
    """A query or body that does not match its description."""

    def __init__(self, message: str, hint: str = "", field: str = "", status: int = 422) -> None:
        super().__init__(message, hint)
        self.field = field
        self.status = status


def refusal(
    status: int, error: str, hint: str = "", headers: Mapping[str, str] | None = None, field: str = ""
) -> Response:
    body = msgspec.json.encode(Refusal(error, hint, field))
    return Response(body, status, dict(headers or {}), media_type=JSON)


def status_of(error: ManyhandsError) -> int:
    match error:
        case BadRequest():
            return error.status
        case UnknownRun() | UnknownTask() | UnknownHost():
            return 404
        case Conflict():
            return 409
        case PlanRefused():
            return 422
        case Unavailable():
            return 503
        case _:
            return 400


async def on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ManyhandsError)
    field = error.field if isinstance(error, BadRequest) else ""
    if isinstance(error, PlanRefused) and error.problems:
        field = error.problems[0].field
    headers = {"retry-after": "5"} if status_of(error) in (429, 503) else None
    return refusal(status_of(error), error.message, error.hint, headers, field)


_SAID = {
    404: ("there is nothing at this address", "/api/v1/openapi.json lists all addresses"),
    405: ("this address does not take this method", "/api/v1/openapi.json lists the methods of each address"),
}


async def on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message, hint = _SAID.get(error.status_code, (str(error.detail), ""))
    return refusal(error.status_code, message, hint, error.headers)
