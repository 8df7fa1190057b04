"""One call of a tool, from its name and arguments to a value that may be sent. Nothing here knows the protocol."""

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from manyhands.engine.public_values import within
from manyhands.engine.redaction import Secrets
from manyhands.errors import ManyhandsError, UsageError
from manyhands.readers.problems import LISTED_MAX, did_you_mean
from manyhands.sources.config.config_types import Config
from manyhands.sources.plans.plan_reading import PlanRefused
from manyhands.surfaces.mcp.arguments import read
from manyhands.surfaces.mcp.pulling_tools import PullWork, name_over_http
from manyhands.surfaces.mcp.reading_tools import TEXT_CHARACTERS_MAX
from manyhands.surfaces.mcp.tools import Tool
from manyhands.surfaces.verbs.pull_verbs import WorkLink
from manyhands.surfaces.verbs.store_view import View


class ToolAnswer(NamedTuple):
    value: dict[str, Any]  # plain, bounded, and without secrets
    is_error: bool

    @property
    def text(self) -> str:
        """For clients that read only text: the Markdown of the answer, or else its JSON."""
        if self.is_error:
            hint = self.value["hint"]
            return f"error: {self.value['error']}" + (f"\nhint: {hint}" if hint else "")
        return str(self.value["markdown"]) if "markdown" in self.value else msgspec.json.encode(self.value).decode()


def call(load: Callable[[], Config], offered: Mapping[str, Tool], name: str, given: Mapping[str, Any]) -> ToolAnswer:
    """Reads the config for each call, because it may have changed since the last one."""
    view: View | None = None
    try:
        tool = _find(offered, name)
        arguments = read(name, tool.takes, given)
        view = View(load(), asked_from="mcp")
        return _safe(tool.do(view, arguments), view)
    except Exception as error:
        return _refusal(error, view)


async def call_live(
    load: Callable[[], Config], link: WorkLink, tool: Tool, live: PullWork, given: Mapping[str, Any]
) -> ToolAnswer:
    """A call of a tool that waits for the dispatcher, in the dispatcher's own loop."""
    view: View | None = None
    try:
        arguments = read(tool.name, tool.takes, given)
        view = View(load())
        return _safe(await live(link, arguments, name_over_http(arguments)), view)
    except Exception as error:
        return _refusal(error, view)


def _refusal(error: Exception, view: View | None) -> ToolAnswer:
    if isinstance(error, ManyhandsError):
        problems = error.problems[:LISTED_MAX] if isinstance(error, PlanRefused) else []
        return _safe({"error": error.message, "hint": error.hint, "problems": problems}, view, is_error=True)
    traceback.print_exception(error, file=sys.stderr)
    told = {
        "error": f"a bug in manyhands: {type(error).__name__}: {error}",
        "hint": "the traceback is on the stderr of `manyhands mcp`",
    }
    return _safe(told, view, is_error=True)


def _find(offered: Mapping[str, Tool], name: str) -> Tool:
    if name not in offered:
        hint = did_you_mean(name, offered) or f"the tools are {', '.join(offered)}"
        raise UsageError(f"there is no tool `{name}` here", hint)
    return offered[name]


def _safe(value: object, view: View | None, is_error: bool = False) -> ToolAnswer:
    secrets = view.secrets if view is not None else Secrets(os.environ)
    plain = msgspec.to_builtins(value, str_keys=True)
    return ToolAnswer(within(plain, secrets.redact, TEXT_CHARACTERS_MAX), is_error)
