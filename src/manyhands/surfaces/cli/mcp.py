"""`manyhands mcp`: the same verbs for agents, until the client that started it goes away."""

import signal
from importlib.util import find_spec

from manyhands.engine.store.store_opening import shown
from manyhands.errors import UsageError
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings


def serve_agents(read_only: bool, settings: Settings) -> None:
    if find_spec("mcp_types") is None:  # version 2 of `mcp` brings it, earlier ones do not have what we need
        raise UsageError(
            "`manyhands mcp` needs the library `mcp`, which is not installed", "pip install 'manyhands[mcp]'"
        )
    import anyio

    from manyhands.surfaces.mcp.mcp_server import serve
    from manyhands.surfaces.mcp.tools import tools

    config = settings.load()  # a wrong one is said now, not by the first call
    offered = tools(read_only)
    say(f"manyhands mcp: {len(offered)} tools for the store {shown(config.store_at)}, on stdin and stdout")
    # What was answered is on disk: Ctrl-C may end it at once, where the thread that reads stdin would wait for a line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve, settings.load, offered)
