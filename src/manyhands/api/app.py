"""The HTTP application: what can be asked, and of whom an answer is refused."""

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from manyhands.api.metrics import Metrics
from manyhands.runtime.dispatcher import Dispatcher

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def make_app(dispatcher: Dispatcher) -> Starlette:
    """Made and called in the dispatcher's loop: nothing here waits, and no other thread looks at the book."""
    metrics = Metrics(dispatcher)

    async def show_metrics(request: Request) -> Response:
        return Response(metrics.page(), headers={"content-type": METRICS_TYPE})

    async def show_health(request: Request) -> Response:
        hosts = dispatcher.book.hosts.values()
        in_flight = sum(len(host.running) for host in hosts)
        alive = dispatcher.is_alive
        told = {"status": "ok" if alive else "stopped", "in_flight": in_flight, "hosts": len(hosts)}
        return JSONResponse(told, 200 if alive else 503)

    routes = [Route("/metrics", show_metrics), Route("/healthz", show_health)]
    return Starlette(routes=routes, middleware=[Middleware(LoopbackNamesOnly)])


class LoopbackNamesOnly:
    """A page elsewhere can make a browser here ask 127.0.0.1 under a name of its own; that name gives it away."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not is_loopback_name(Headers(scope=scope).get("host", "")):
            refusal = PlainTextResponse("this address answers to 127.0.0.1, localhost and [::1] only\n", 403)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def is_loopback_name(host: str) -> bool:
    """Of a Host header: with or without a port."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower() in LOOPBACK_NAMES and port.isdecimal()
