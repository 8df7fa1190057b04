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
from manyhands.surfaces.mcp.calling import ToolAnswer, call, call_live
from manyhands.surfaces.mcp.tools import Tool
from manyhands.surfaces.verbs.pull_verbs import WorkLink

INSTRUCTIONS = (
    "manyhands runs a backlog of tasks (commands, model calls, functions) on hosts, as many at once as they can bear. "
    "A task belongs to a run. Its needs are the tasks that must be done before it. Its claims are the files that it "
    "reads, appends to or writes; tasks with conflicting claims never run at the same time. Use plan_check before add, "
    "and task_explain to learn why a task does not start. Tasks run only while a dispatcher runs (`manyhands run PLAN` "
    "or `manyhands serve` in a shell). Without one, requests are kept: `heard` is false, and `done` names the command "
    "that acts on them. To work on tasks yourself, take one with pull_next, renew your lease with pull_report, and "
    "hand it in with pull_finish."
)


async def serve(load: Callable[[], Config], offered: Mapping[str, Tool]) -> None:
    """Serves until the client closes stdin."""
    server = make_server(load, offered)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def make_server(load: Callable[[], Config], offered: Mapping[str, Tool], link: WorkLink | None = None) -> Server[Any]:
    """With a link it lives in the loop of a dispatcher, and tools that wait for that one wait in this loop."""
    listed = protocol.ListToolsResult(tools=[_described(tool) for tool in offered.values()])
    one_at_a_time = anyio.CapacityLimiter(1)  # calls are answered in the order they came

    async def list_tools(context: Any, asked: Any) -> protocol.ListToolsResult:
        return listed

    async def call_tool(context: Any, asked: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        given = asked.arguments or {}
        tool = offered.get(asked.name)
        if link is not None and tool is not None and tool.live is not None:
            return _result(await call_live(load, link, tool, tool.live, given))
        # In a thread: a long journal takes seconds to read, and the client may send a ping meanwhile.
        answer = await anyio.to_thread.run_sync(call, load, offered, asked.name, given, limiter=one_at_a_time)
        return _result(answer)

    return Server(
        "manyhands", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _described(tool: Tool) -> protocol.Tool:
    hints = protocol.ToolAnnotations(
        read_only_hint=not tool.changes, destructive_hint=tool.destroys, open_world_hint=False
    )
    return protocol.Tool(name=tool.name, description=tool.about, input_schema=schema_of(tool.takes), annotations=hints)


def _result(answer: ToolAnswer) -> protocol.CallToolResult:
    text = protocol.TextContent(type="text", text=answer.text)
    return protocol.CallToolResult(content=[text], structured_content=answer.value, is_error=answer.is_error)
