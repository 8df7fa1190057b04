"""Decides which requests are answered.

Without a token, these are requests to a loopback name. With a token, these are requests that carry it.
"""

import secrets

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: The answer says only whether the worker is healthy. The program that restarts the worker has no token.
OPEN_PATHS = frozenset({"/health"})


class RequestGuard:
    def __init__(self, app: ASGIApp, token: str = "") -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if self._token:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            right = scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), self._token.encode())
            if right or scope["path"] in OPEN_PATHS:
                return None
            return _refused(401, "the token is missing or wrong: send `Authorization: Bearer TOKEN`")
        # A foreign web page can make a local browser ask 127.0.0.1 under the page's own host name (DNS rebinding).
        # The Host header then shows that foreign name.
        if not is_loopback_name(headers.get("host", "")):
            return _refused(403, "without a token the worker answers only requests to 127.0.0.1, localhost and [::1]")
        return None


def is_loopback_name(host: str) -> bool:
    """Whether a Host header, with or without a port, names loopback."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower() in LOOPBACK_NAMES and port.isdecimal()


def _refused(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "authentication_error", "code": status}}, status)
