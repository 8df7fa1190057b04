"""How commands serve the page of a dispatcher beside a run, and print its address."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import Where
from manyhands.errors import Unavailable
from manyhands.surfaces.cli.printing import say

if TYPE_CHECKING:
    from manyhands.surfaces.api.api_server import ApiServer


def say_address(offered: "ApiServer") -> None:
    """The address with the token is printed only to a terminal, never to a file or a log."""
    say(f"page: {offered.entry if sys.stderr.isatty() else offered.url}")


@asynccontextmanager
async def page_beside(
    dispatcher: Dispatcher, directory: Path, where: Where | None = None, secrets: Secrets | None = None, port: int = 0
) -> AsyncIterator["ApiServer"]:
    """Serve the page of a run at the usual port, or at any other if that one is taken."""
    # Imported here: commands that only read need no web server.
    from manyhands.surfaces.api.api_server import DEFAULT_PORT, offering

    async with AsyncExitStack() as stack:
        try:
            offered = await stack.enter_async_context(
                offering(dispatcher, directory, port or DEFAULT_PORT, where=where, secrets=secrets)
            )
        except Unavailable:
            offered = await stack.enter_async_context(offering(dispatcher, directory, 0, where=where, secrets=secrets))
        yield offered
