"""`manyhands mcp`: offers the same verbs to agents, until the client that started it disconnects."""

import signal
from importlib.util import find_spec

from manyhands.engine.store.store_opening import printable
from manyhands.errors import UsageError
from manyhands.install_hints import install_hint
from manyhands.surfaces.cli.printing import say
from manyhands.surfaces.cli.settings import Settings


def serve_agents(read_only: bool, settings: Settings) -> None:
    if find_spec("mcp_types") is None:  # part of `mcp` 2; earlier versions lack what we need
        raise UsageError("`manyhands mcp` needs the library `mcp`, which is not installed", install_hint("mcp"))
    import anyio

    from manyhands.surfaces.mcp.mcp_server import serve
    from manyhands.surfaces.mcp.tools import tools

    config = settings.load()  # a wrong config is reported now, not by the first call
    offered = tools(read_only)
    say(f"manyhands mcp: serving {len(offered)} tools for the store {printable(config.store_at)} on stdin and stdout")
    # Every answer is on disk, so Ctrl-C may end the process at once. The thread that reads stdin would wait for a line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve, settings.load, offered)
