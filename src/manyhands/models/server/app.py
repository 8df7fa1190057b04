"""The worker's HTTP application: which path is answered by what."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from manyhands.models.engine.texts import Texts
from manyhands.models.server.bodies import refused
from manyhands.models.server.chatting import Chatting
from manyhands.models.server.embedding import Embedding
from manyhands.models.server.guard import Guard
from manyhands.models.server.pages import Pages
from manyhands.models.server.ranking import Ranking

Handler = Callable[[Request], Awaitable[Response]]


def make_app(texts: Texts, token: str = "") -> Starlette:
    embedding, ranking, chatting, pages = Embedding(texts), Ranking(texts), Chatting(texts), Pages(texts.engine)
    posts: dict[str, Handler] = {
        "/embeddings": embedding.openai,
        "/embed": embedding.tei,
        "/rerank": ranking.rerank,
        "/classify": ranking.classify,
        "/chat/completions": chatting.completions,
    }
    gets: dict[str, Handler] = {"/models": pages.models, "/health": pages.health, "/metrics": pages.metrics}
    routes = [
        Route(prefix + path, _answered(handler), methods=[method])
        for method, handlers in (("POST", posts), ("GET", gets))
        for path, handler in handlers.items()
        for prefix in ("", "/v1")
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])


def _answered(handler: Handler) -> Handler:
    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:  # the boundary: every request gets an answer in the form clients know
            return refused(error)

    return answer
