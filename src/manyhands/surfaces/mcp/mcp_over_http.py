"""The tools over the Model Context Protocol, on an address of the HTTP server of a dispatcher."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from manyhands.sources.config.config_types import Config
from manyhands.surfaces.mcp.tools import tools
from manyhands.surfaces.verbs.pull_verbs import WorkLink

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

#: An ASGI application; what is in its messages is of no interest here.
Asgi = Callable[[Any, Any, Any], Any]


class McpOverHttp:
    """Loads the library when the first agent comes: it takes longer than everything else that a server loads."""

    def __init__(self, load: Callable[[], Config], link: WorkLink) -> None:
        self._load, self._link = load, link
        self._is_wanted, self._is_up = asyncio.Event(), asyncio.Event()
        self._manager: StreamableHTTPSessionManager | None = None
        self.serving = asyncio.create_task(self._serve())

    async def _serve(self) -> None:
        await self._is_wanted.wait()
        made = await asyncio.to_thread(import_module, "manyhands.surfaces.mcp.mcp_server")
        manager = (
            await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
        ).StreamableHTTPSessionManager
        self._manager = manager(
            made.make_server(self._load, tools(read_only=False), self._link), json_response=True, stateless=True
        )
        async with self._manager.run():
            self._is_up.set()
            await asyncio.Event().wait()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._is_wanted.set()
        await self._is_up.wait()
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)


@asynccontextmanager
async def mcp_over_http(load: Callable[[], Config], link: WorkLink) -> AsyncIterator[Asgi | None]:
    """None: the library is not installed."""
    if find_spec("mcp_types") is None:
        yield None
        return
    app = McpOverHttp(load, link)
    try:
        yield app
    finally:
        app.serving.cancel()
        await asyncio.wait({app.serving})
