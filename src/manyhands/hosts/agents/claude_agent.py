"""Claude Code, by its stream of JSON. Qwen Code uses the same format with small differences."""

from typing import Any

from msgspec.structs import replace

from manyhands.hosts.agents.adapter import (
    Adapter,
    Advice,
    AgentLaunch,
    Errand,
    JsonLines,
    LineMoment,
    files_in,
    session_in,
)
from manyhands.hosts.agents.agent_events import (
    AgentEvent,
    Closed,
    Denied,
    Does,
    RefusalKind,
    Retrying,
    Returned,
    Says,
    Used,
)
from manyhands.hosts.agents.refusal_texts import money, number, refusal, table, text_of

#: It retries only a few times, so that the clutch sees the load. A single short failure still does not end an attempt.
_ENV = {"CLAUDE_CODE_MAX_RETRIES": "2", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
_KINDS = {
    "billing_error": RefusalKind.BILLING,
    "authentication_failed": RefusalKind.AUTH,
    "oauth_org_not_allowed": RefusalKind.AUTH,
    "server_error": RefusalKind.BUSY,
    "overloaded": RefusalKind.BUSY,
}
_LIMITS = {"five_hour": "five-hour limit", "seven_day": "weekly limit"}


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("claude",)), "-p", "--output-format", "stream-json", "--verbose"]
    argv += ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    argv += ["--model", errand.model] if errand.model else []
    argv += ["--max-turns", str(errand.turns)] if errand.turns is not None else []
    argv += ["--max-budget-usd", f"{errand.cost:g}"] if errand.cost is not None else []
    argv += ["--resume", errand.session] if errand.session else []
    return AgentLaunch((*argv, *errand.args), _ENV)


class StreamJson(JsonLines):
    """The format that Claude Code and Qwen Code share."""

    def hear(self, kind: str, event: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        match kind:
            case "system":
                return self._system(event)
            case "assistant":
                self._note_error(event)
                return self._message(event)
            case "rate_limit_event":
                self._note_limit(table(event.get("rate_limit_info")))
            case "user":  # the result of a tool
                return [Returned()]
            case "result":
                return [*self._used(event), *self._denied(event), self._closed(event, moment)]
        return []

    def __init__(self) -> None:
        self._error = ""
        self._resets_at: object = None
        self._limit = ""
        self._counted = ""  # the answer whose tokens were counted last

    def _system(self, event: dict[str, Any]) -> list[AgentEvent]:
        if event.get("subtype") == "init":
            return session_in(event, "session_id")
        if event.get("subtype") == "api_retry":
            return [Retrying(f"{event.get('error_status') or ''} {text_of(event.get('error'))}".strip())]
        return []

    def _note_error(self, event: dict[str, Any]) -> None:
        self._error = text_of(event.get("error"))

    def _note_limit(self, info: dict[str, Any]) -> None:
        rejected = info.get("status") == "rejected"
        self._resets_at = info.get("resetsAt") if rejected else None
        name = text_of(info.get("rateLimitType"))
        self._limit = (_LIMITS.get(name) or f"{name.replace('_', ' ')} limit".strip()) if rejected else ""

    def _message(self, event: dict[str, Any]) -> list[AgentEvent]:
        found: list[AgentEvent] = []
        content = table(event.get("message")).get("content")
        for part in content if isinstance(content, list) else []:
            part = table(part)
            if part.get("type") == "text" and text_of(part.get("text")).strip():
                found.append(Says(part["text"]))
            elif part.get("type") == "tool_use":
                arguments = table(part.get("input"))
                command = text_of(arguments.get("command"))
                found.append(Does(text_of(part.get("name")), files_in(arguments), command, runs=True))
        return [*found, *self._used_by(table(event.get("message")))]

    def _used_by(self, message: dict[str, Any]) -> list[AgentEvent]:
        """What one answer of the model took, for whoever watches; the closing event has the sum."""
        id = text_of(message.get("id"))
        if not id or id == self._counted:  # each block of an answer says it again
            return []
        self._counted = id
        return [replace(one, cost=None, is_total=False) for one in self._used({"usage": message.get("usage")})]

    def _used(self, event: dict[str, Any]) -> list[Used]:
        usage = table(event.get("usage"))
        cached = number(usage, "cache_read_input_tokens")
        tokens_in = number(usage, "input_tokens") + cached + number(usage, "cache_creation_input_tokens")
        return [Used(tokens_in, cached, number(usage, "output_tokens"), money(event.get("total_cost_usd")))]

    def _denied(self, event: dict[str, Any]) -> list[AgentEvent]:
        denials = event.get("permission_denials")
        names = [text_of(table(one).get("tool_name")) for one in denials] if isinstance(denials, list) else []
        return [Denied(name or "a tool") for name in names]

    def _closed(self, event: dict[str, Any], moment: LineMoment) -> Closed:
        subtype = text_of(event.get("subtype"))
        if subtype.startswith("error_max_"):
            words = subtype.removeprefix("error_").replace("_", " ")
            return Closed(refusal(f"stopped at its limit ({words})", moment.now, kind=RefusalKind.LIMIT))
        if event.get("is_error") is False and subtype == "success":
            return Closed()
        text = text_of(event.get("result")) or subtype or "it gave no reason"
        status = event.get("api_error_status")
        status = status if isinstance(status, int) and not isinstance(status, bool) else None
        return Closed(
            refusal(
                text,
                moment.now,
                status=status,
                zone=moment.zone,
                until=self._resets_at,
                limit=self._limit,
                kind=_KINDS.get(self._error),
            )
        )


CLAUDE = Adapter(
    "claude",
    launch,
    StreamJson,
    Advice(
        denied='`args = ["--allowedTools", "WebFetch"]` of its host allows a tool',
        auth="sign in with `claude` and `/login`, or set ANTHROPIC_API_KEY",
    ),
    resumes=True,
    same_directory=True,
    own=(".claude",),
)
