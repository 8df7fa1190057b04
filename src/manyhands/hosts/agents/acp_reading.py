"""What an agent says over the Agent Client Protocol (ACP), as the events of all agents.

It is read as loosely as the programs differ: an unknown or odd message is nothing, never an error.
"""

import json
from typing import Any

from manyhands.hosts.agents.adapter import LineMoment
from manyhands.hosts.agents.agent_events import (
    AgentEvent,
    AgentRefusal,
    Closed,
    Does,
    RefusalKind,
    Retrying,
    Says,
    Used,
)
from manyhands.hosts.agents.refusal_texts import money, number, refusal, table, text_of

#: What programs call their errors, where their sentence does not say it as plainly.
_KINDS = {
    "authentication_failed": RefusalKind.AUTH,
    "ProviderAuthError": RefusalKind.AUTH,
    "unauthorized": RefusalKind.AUTH,
    "billing_error": RefusalKind.BILLING,
    "usageLimitExceeded": RefusalKind.CLOSED,
    "ContextOverflowError": RefusalKind.PERMANENT,
    "contextWindowExceeded": RefusalKind.PERMANENT,
    "invalid_request": RefusalKind.PERMANENT,
    "server_error": RefusalKind.BUSY,
    "serverOverloaded": RefusalKind.BUSY,
}
_NAMES = ("errorKind", "errorName", "codexErrorInfo")
_AUTH_REQUIRED = -32000
_NO_REASON = "Internal error"
_STOPPED_AT = {
    "max_tokens": "stopped at the limit of tokens that its model may write",
    "max_turn_requests": "stopped at its limit (max turns)",
}


class AcpReading:
    """Of one prompt of a session."""

    def __init__(self, cost_before: float = 0.0) -> None:
        """`cost_before` is what earlier attempts of a resumed session have cost: some agents tell the total."""
        self.session_cost = cost_before
        self._cost_before = cost_before
        self._files: dict[str, set[str]] = {}  # of each tool call, those that were told of
        self._open: set[str] = set()  # tool calls that run
        self._counted = False  # its tokens come request by request
        self._failed = False  # Codex says only here that its turn failed
        self._said = ""

    @property
    def runs_tool(self) -> bool:
        return bool(self._open)

    def update(self, update: dict[str, Any]) -> list[AgentEvent]:
        meta = table(update.get("_meta"))
        codex = table(meta.get("codex"))
        found: list[AgentEvent] = []
        if table(codex.get("error")).get("willRetry") is True:
            found.append(Retrying(text_of(table(codex["error"]).get("message")) or "it gave no reason"))
        if text_of(table(codex.get("threadStatus")).get("type")) == "systemError":
            self._failed = True
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                found += self._chunk(update, meta)
            case "tool_call" | "tool_call_update":
                found += self.tool_call(update)
            case "usage_update":
                found += self._cost(table(update.get("cost")))
        return found

    def tool_call(self, call: dict[str, Any]) -> list[AgentEvent]:
        """A tool call is told when it is first heard of, and again for each file that was not known then."""
        id = text_of(call.get("toolCallId"))
        status = call.get("status")
        if status in ("completed", "failed"):
            self._open.discard(id)
        elif id:
            self._open.add(id)
        if status == "pending" and _lacks_command(call):
            return []
        known = self._files.get(id)
        files = paths_in(call)
        new = tuple(file for file in files if known is None or file not in known)
        self._files.setdefault(id, set()).update(files)
        if known is not None and not new:
            return []
        tool = text_of(call.get("kind")) or text_of(table(call.get("_meta")).get("toolName"))
        return [Does(tool or text_of(call.get("title")) or "tool", new, command_in(call))]

    def answered(self, result: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        """The agent has answered the prompt, so its turn has ended."""
        found: list[AgentEvent] = []
        usage = table(result.get("usage")) or _quota_in(result)
        if usage and not self._counted:
            found.append(_used(usage, is_total=True, cost=self._own_cost()))
        stop = text_of(result.get("stopReason"))
        if stop in _STOPPED_AT:
            found.append(Closed(refusal(_STOPPED_AT[stop], moment.now, kind=RefusalKind.LIMIT)))
        elif stop == "end_turn" and not self._failed:
            found.append(Closed())
        elif stop == "end_turn":
            # It calls that the end of a turn; what it said last is the error.
            found.append(Closed(refusal(self._said or "the turn failed", moment.now, zone=moment.zone)))
        else:
            text = f"its turn ended with `{stop or 'no reason'}`"
            found.append(Closed(refusal(text, moment.now, kind=RefusalKind.FAILED)))
        return found

    def refused(self, code: int, title: str, data: object, moment: LineMoment) -> Closed:
        return Closed(refusal_in(code, title, data, moment))

    def _chunk(self, update: dict[str, Any], meta: dict[str, Any]) -> list[AgentEvent]:
        found: list[AgentEvent] = []
        text = text_of(table(update.get("content")).get("text"))
        if text:
            self._said += text
            found.append(Says(text, whole=False))
        if usage := table(meta.get("usage")):
            self._counted = True
            found.append(_used(usage, is_total=False))
        return found

    def _cost(self, cost: dict[str, Any]) -> list[AgentEvent]:
        """The cost of the session so far, of which only the rest since the last time is new."""
        total, before = money(cost.get("amount")), self.session_cost
        if total is None or total <= before:
            return []
        self.session_cost = total
        return [Used(cost=total - before, is_total=False)]

    def _own_cost(self) -> float | None:
        own = self.session_cost - self._cost_before
        return own if own > 0 else None


def refusal_in(code: int, message: str, data: object, moment: LineMoment) -> AgentRefusal:
    """What the error with which an agent answers a request means."""
    fields = table(data)
    names = [text_of(fields.get(name)) for name in _NAMES]
    body = data if isinstance(data, str) else text_of(fields.get("details")) or text_of(fields.get("message"))
    told = message.removeprefix(_NO_REASON).removeprefix(": ")
    text = body or told or next(filter(None, names), "") or message
    kind = next((_KINDS[name] for name in names if name in _KINDS), None)
    if code == _AUTH_REQUIRED:
        kind = RefusalKind.AUTH
    if text == _NO_REASON and kind is None:  # it may be anything, and is not a sign of load
        kind = RefusalKind.FAILED
    status = code if 400 <= code < 600 else None
    return refusal(text or "it gave no reason", moment.now, status=status, zone=moment.zone, kind=kind)


def _used(usage: dict[str, Any], *, is_total: bool, cost: float | None = None) -> Used:
    tokens_out = number(usage, "outputTokens")
    # Some leave what came from a cache out of the input; the total has all.
    told = number(usage, "totalTokens") - tokens_out - number(usage, "thoughtTokens")
    tokens_in = max(number(usage, "inputTokens"), told)
    return Used(tokens_in, number(usage, "cachedReadTokens"), tokens_out, cost, is_total=is_total)


def paths_in(call: dict[str, Any]) -> tuple[str, ...]:
    """The files that a tool call names: where it works, and what it changes."""
    found: dict[str, None] = {}
    works_in = table(call.get("rawInput")).get("cwd")  # a place, not a file; opencode names it with each command
    for key in ("locations", "content"):
        entries = call.get(key)
        for entry in entries if isinstance(entries, list) else ():
            path = table(entry).get("path")
            if isinstance(path, str) and path and path != works_in:
                found[path] = None
    return tuple(found)


def _lacks_command(call: dict[str, Any]) -> bool:
    """A command whose arguments have begun to arrive. The next update has the rest."""
    arguments = table(call.get("rawInput"))
    return call.get("kind") == "execute" and bool(arguments) and "command" not in arguments


def command_in(call: dict[str, Any]) -> str:
    arguments = call.get("rawInput")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = None
    command = table(arguments).get("command")
    if isinstance(command, list):
        return " ".join(word for word in command if isinstance(word, str))
    if isinstance(command, str):
        return command
    return text_of(call.get("title")) if call.get("kind") == "execute" else ""


def _quota_in(result: dict[str, Any]) -> dict[str, Any]:
    """Gemini CLI tells its tokens in a place of its own."""
    tokens = table(table(table(result.get("_meta")).get("quota")).get("token_count"))
    return {"inputTokens": tokens.get("input_tokens"), "outputTokens": tokens.get("output_tokens")} if tokens else {}
