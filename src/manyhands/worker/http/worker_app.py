"""The worker's HTTP application: which function answers which path."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.worker.http.bodies import Body, body_of, refused
from manyhands.worker.http.chatting import Chatting
from manyhands.worker.http.embedding import Embedding
from manyhands.worker.http.pages import Pages
from manyhands.worker.http.ranking import Ranking
from manyhands.worker.http.request_guard import RequestGuard
from manyhands.worker.loop.text_requests import TextRequests

Page = Callable[[Request], Awaitable[Response]]
BodyHandler = Callable[[Body], Awaitable[Response]]


def make_app(texts: TextRequests, token: str = "") -> Starlette:
    embedding, ranking, chatting, pages = Embedding(texts), Ranking(texts), Chatting(texts), Pages(texts.engine)
    posts: dict[str, BodyHandler] = {
        "/embeddings": embedding.openai,
        "/embed": embedding.tei,
        "/rerank": ranking.rerank,
        "/classify": ranking.classify,
        "/chat/completions": chatting.completions,
    }
    gets: dict[str, Page] = {"/models": pages.models, "/health": pages.health, "/metrics": pages.metrics}
    pages_of = {"POST": {path: _worked_on(work) for path, work in posts.items()}, "GET": gets}
    routes = [
        Route(prefix + path, _answered(page), methods=[method])
        for method, paths in pages_of.items()
        for path, page in paths.items()
        for prefix in ("", "/v1")
    ]
    return Starlette(routes=routes, middleware=[Middleware(RequestGuard, token=token)])


def _answered(page: Page) -> Page:
    async def answer(request: Request) -> Response:
        try:
            return await page(request)
        except Exception as error:  # the boundary: every request gets an answer in a form that clients know
            return refused(error)

    return answer


def _worked_on(work: BodyHandler) -> Page:
    """Stop the work for a request when its caller disconnects, because nobody would read the answer."""

    async def page(request: Request) -> Response:
        working = asyncio.ensure_future(work(await body_of(request)))
        leaving = asyncio.ensure_future(request.receive())  # after the body, only a disconnect can arrive
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise ClientDisconnect
            return working.result()
        finally:
            for task in (working, leaving):
                task.cancel()

    return page
