"""How commands serve the page of a dispatcher beside a run, and print its address."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from manyhands.engine.redaction import Secrets
from manyhands.engine.store.store_opening import Where
from manyhands.errors import Unavailable
from manyhands.surfaces.cli.printing import say

if TYPE_CHECKING:
    from manyhands.surfaces.api.api_server import ApiServer
    from manyhands.surfaces.api.watched import Watched

#: How soon Ctrl-C ends the wait for a key.
LOOK_EVERY_S = 0.2


def say_address(offered: "ApiServer", run: str = "", view: str = "") -> str:
    """The address with the token is printed only to a terminal, never to a file or a log. It opens on the run, or on
    one of the views.
    """
    if offered.socket_file is not None:
        say(f"page: at {offered.url}; a browser reaches it through `ssh -L 8642:{offered.socket_file} HOST`, then")
        say(f"  http://127.0.0.1:8642/?token={offered.token}")
        return offered.url
    place = f"#/?run={quote(run)}" if run else f"#/?show={view}" if view else ""
    address = f"{offered.entry if sys.stderr.isatty() else f'{offered.url}/'}{place}"
    say(f"page: {address}")
    return address


async def stay_until_key(is_wanted: Callable[[], bool]) -> None:
    """On a terminal, keep the page up until a key is pressed, or while it is no longer wanted. Elsewhere, do not."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    import termios
    import tty

    say("the page stays up until you press a key")
    loop, pressed, terminal = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    loop.add_reader(terminal, pressed.set)
    try:
        while is_wanted() and not pressed.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(pressed.wait(), LOOK_EVERY_S)
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)  # the key itself is not for the shell


@asynccontextmanager
async def page_beside(
    dispatcher: "Watched", directory: Path, where: Where | None = None, secrets: Secrets | None = None, port: int = 0
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
