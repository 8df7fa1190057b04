"""The HTTP application: the page, the API and the metrics of one dispatcher, behind one gate."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from manyhands.engine.store.store_opening import exists
from manyhands.errors import ManyhandsError, Unavailable
from manyhands.surfaces.api import offline_process
from manyhands.surfaces.api.api_context import ApiContext
from manyhands.surfaces.api.endpoints import PREFIX, routes
from manyhands.surfaces.api.last_lines import tell_outputs
from manyhands.surfaces.api.metrics import Metrics
from manyhands.surfaces.api.openapi import description
from manyhands.surfaces.api.page_files import PageFiles
from manyhands.surfaces.api.refusals import JSON, on_error, on_http_error, refusal
from manyhands.surfaces.api.security import Gate
from manyhands.surfaces.api.watched import Watched

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Served:
    """The HTTP application of a dispatcher. `close` ends its streams, which would otherwise never end."""

    def __init__(self, app: Starlette, context: ApiContext) -> None:
        self.app = app
        self.context = context
        self._lines = asyncio.create_task(tell_outputs(context.feed, context.directory, context.redact))
        self._past = asyncio.create_task(_tell_past(context, context.feed.picture.seq))

    def close(self) -> None:
        if not self.context.feed.is_closed:
            self._lines.cancel()
            self._past.cancel()
            self.context.close()


async def _tell_past(context: ApiContext, until_seq: int) -> None:
    """Reading a long journal takes a while. Until then, and if it cannot be read, the page says that it is unknown."""
    if not context.book.runs or not exists(context.where):
        return
    with suppress(Unavailable):
        context.feed.learn_past(await offline_process.past(context, until_seq))


def make_app(context: ApiContext, beyond_loopback: bool, mounted: Mapping[str, ASGIApp] | None = None) -> Served:
    """Runs in the event loop of the dispatcher. So nothing here may block, and no other thread reads the book."""
    dispatcher = context.dispatcher
    app = Starlette(
        routes=[*_pages(), *routes(context), *_figures(dispatcher, context.metrics), *_mounts(mounted or {})],
        middleware=[Middleware(Gate, directory=context.directory, beyond_loopback=beyond_loopback)],
        exception_handlers={ManyhandsError: on_error, HTTPException: on_http_error},
    )
    return Served(app, context)


def _mounts(mounted: Mapping[str, ASGIApp]) -> list[BaseRoute]:
    """Applications of others at paths of their own, behind the same gate."""
    return [Route(path, _Untouched(app), methods=None) for path, app in mounted.items()]


class _Untouched:
    """An object, because a function would be taken for a handler of requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _figures(dispatcher: Watched, metrics: Metrics) -> list[BaseRoute]:
    async def show_metrics(request: Request) -> Response:
        return Response(metrics.page(), headers={"content-type": METRICS_TYPE})

    async def show_health(request: Request) -> Response:
        hosts = dispatcher.book.hosts.values()
        in_flight = sum(len(host.running) for host in hosts)
        alive = dispatcher.is_alive
        told = {"status": "ok" if alive else "stopped", "in_flight": in_flight, "hosts": len(hosts)}
        return JSONResponse(told, 200 if alive else 503)

    described = msgspec.json.encode(description())

    async def show_description(request: Request) -> Response:
        return Response(described, media_type=JSON)

    return [
        Route("/metrics", show_metrics),
        Route("/healthz", show_health),
        Route(f"{PREFIX}/openapi.json", show_description),
    ]


def _pages() -> list[BaseRoute]:
    files = PageFiles()

    async def show_page(request: Request) -> Response:
        nothing = refusal(404, "this installation has no page", "/api/v1/openapi.json lists all addresses")
        return files.answer("index.html", request) or nothing

    return [Route("/", show_page), Mount("/static", files)]
