"""Reads requests and writes errors in OpenAI's form. Bytes that are not UTF-8 spoil only their own item."""

import json
import math
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from manyhands.errors import ManyhandsError, Unavailable, UsageError
from manyhands.worker.values.item_answers import Busy, NoSuchModel, TooMuch, Trouble

#: A request's JSON object.
Body = dict[str, Any]

BODY_BYTES_MAX = 64 * 2**20


class BadBody(UsageError):
    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def body_of(request: Request) -> Body:
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > BODY_BYTES_MAX:
            raise BadBody(f"the request is larger than {BODY_BYTES_MAX // 2**20} MB", 413)
        pieces.append(piece)
    try:
        # Bytes that are not UTF-8 become halves of surrogate pairs, which the check of each text finds.
        body = json.loads(b"".join(pieces).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise BadBody(f"the request is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadBody("the request must be a JSON object")
    return body


def text_field(body: Body, name: str, otherwise: str | None = None) -> str:
    value = body.get(name, otherwise)
    if not isinstance(value, str):
        raise BadBody(f"`{name}` must be a string" if name in body else f"`{name}` is missing")
    return value


def number_field(body: Body, name: str) -> int | None:
    value = body.get(name)
    if value is not None and (type(value) is not int or value < 1):
        raise BadBody(f"`{name}` must be a whole number above 0")
    return value


def flag_field(body: Body, name: str) -> bool | None:
    value = body.get(name)
    if value is not None and type(value) is not bool:
        raise BadBody(f"`{name}` must be true or false")
    return value


def app_of(body: Body) -> str:
    """The app of a request, from OpenAI's field for the end user. The worker is shared between apps."""
    return text_field(body, "user", "")


def priority_of(body: Body) -> int:
    value = body.get("priority", 2)
    if type(value) is not int or not 0 <= value <= 4:
        raise BadBody("`priority` must be a whole number from 0 (critical) to 4")
    return value


def as_json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def trouble_told(trouble: Trouble) -> dict[str, Any]:
    kind = "invalid_request_error" if trouble.is_callers else "server_error"
    return {"message": trouble.message, "type": kind, "code": trouble.code}


def all_failed(troubles: list[Trouble]) -> Response:
    """The response when no item has an answer. It reports the first item's error."""
    first = troubles[0]
    status = 400 if first.is_callers else 503 if first.code in ("stuck", "stopped", "out_of_memory") else 500
    return as_json({"error": trouble_told(first)}, status)


def refused(error: Exception) -> Response:
    """The response to an exception, which concerns the whole request and never a single item."""
    status, kind, headers = 500, "server_error", {}
    message = f"{type(error).__name__}: {error}"
    if isinstance(error, ManyhandsError):
        message = f"{error.message}; {error.hint}" if error.hint else error.message
    if isinstance(error, BadBody):
        status, kind = error.status, "invalid_request_error"
    elif isinstance(error, NoSuchModel):
        status, kind = 404, "invalid_request_error"
    elif isinstance(error, TooMuch):
        status, kind = 413, "invalid_request_error"
    elif isinstance(error, Busy):
        status, kind = 429, "rate_limit_error"
        headers = {"retry-after": str(max(1, math.ceil(error.retry_after_s)))}
    elif isinstance(error, UsageError):
        status, kind = 400, "invalid_request_error"
    elif isinstance(error, Unavailable):
        status = 503
    elif isinstance(error, ClientDisconnect):
        status = 499
    return as_json({"error": {"message": message, "type": kind, "code": status}}, status, headers)
