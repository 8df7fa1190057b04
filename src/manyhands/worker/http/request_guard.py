"""Who is answered: anyone on loopback under a loopback name; beyond it only those with the token."""

import secrets

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: Says nothing but whether the worker is well: those who restart it have no token.
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
            return _refused(401, "the token is missing or wrong: `Authorization: Bearer TOKEN`")
        # A page elsewhere can have a browser here ask 127.0.0.1 under a name of its own; that name gives it away.
        if not is_loopback_name(headers.get("host", "")):
            return _refused(403, "without a token only 127.0.0.1, localhost and [::1] are answered")
        return None


def is_loopback_name(host: str) -> bool:
    """Of a Host header: with or without a port."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower() in LOOPBACK_NAMES and port.isdecimal()


def _refused(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "type": "authentication_error", "code": status}}, status)
