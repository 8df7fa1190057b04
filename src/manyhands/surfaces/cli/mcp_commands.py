"""`manyhands mcp`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Noun, Option
from manyhands.surfaces.cli.settings import Settings


def mcp(
    settings: Settings,
    read_only: Annotated[bool, Option("--read-only", help="Offer only tools that change nothing.")] = False,
) -> None:
    """Serve the verbs of this store to an agent on stdin and stdout, until the client disconnects."""
    from manyhands.surfaces.cli.mcp import serve_agents

    serve_agents(read_only, settings)


noun = Noun(mcp)
