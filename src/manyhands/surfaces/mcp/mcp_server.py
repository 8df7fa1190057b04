"""The tools over the Model Context Protocol, on stdin and stdout."""

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import mcp_types as protocol
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from manyhands import __version__
from manyhands.sources.config.config_types import Config
from manyhands.surfaces.mcp.arguments import schema_of
from manyhands.surfaces.mcp.calling import ToolAnswer, call
from manyhands.surfaces.mcp.tools import Tool

INSTRUCTIONS = (
    "manyhands runs a backlog of tasks (commands, model calls, functions) on hosts, as many at once as they can bear. "
    "Tasks belong to a run, have needs (tasks that come first) and claims (files they read, append to or write; "
    "conflicting ones never overlap). plan_check finds what is wrong before add; task_explain says why a task does not "
    "start. Tasks run only while a dispatcher does (`manyhands run PLAN` or `manyhands serve` in a shell): what is "
    "asked for without one is kept, `heard` is false, and `done` names the command that acts on it."
)


async def serve(load: Callable[[], Config], offered: Mapping[str, Tool]) -> None:
    """Until the client closes stdin."""
    listed = protocol.ListToolsResult(tools=[_described(tool) for tool in offered.values()])
    one_at_a_time = anyio.CapacityLimiter(1)  # what was asked first is done first

    async def list_tools(context: Any, asked: Any) -> protocol.ListToolsResult:
        return listed

    async def call_tool(context: Any, asked: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        given = asked.arguments or {}
        # In a thread: a long journal takes seconds to read, and the client may ask meanwhile whether we live.
        answer = await anyio.to_thread.run_sync(call, load, offered, asked.name, given, limiter=one_at_a_time)
        return _result(answer)

    server: Server[Any] = Server(
        "manyhands", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _described(tool: Tool) -> protocol.Tool:
    hints = protocol.ToolAnnotations(
        read_only_hint=not tool.changes, destructive_hint=tool.destroys, open_world_hint=False
    )
    return protocol.Tool(name=tool.name, description=tool.about, input_schema=schema_of(tool.takes), annotations=hints)


def _result(answer: ToolAnswer) -> protocol.CallToolResult:
    text = protocol.TextContent(type="text", text=answer.text)
    return protocol.CallToolResult(content=[text], structured_content=answer.value, is_error=answer.is_error)
