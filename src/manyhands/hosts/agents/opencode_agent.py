"""opencode, by the JSON events of `opencode run`."""

import json
from typing import Any

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
from manyhands.hosts.agents.agent_events import AgentEvent, Closed, Does, RefusalKind, Says, Used
from manyhands.hosts.agents.refusal_texts import money, number, refusal, table, text_of

_KINDS = {"ProviderAuthError": RefusalKind.AUTH, "ContextOverflowError": RefusalKind.PERMANENT}


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("opencode",)), "run", "--format", "json", "--auto"]
    argv += ["-m", errand.model] if errand.model else []
    argv += ["-s", errand.session] if errand.session else []
    return AgentLaunch((*argv, *errand.args))


class OpencodeOutput(JsonLines):
    def __init__(self) -> None:
        self._session = ""

    def hear(self, kind: str, event: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        found: list[AgentEvent] = []
        if event.get("sessionID") != self._session:
            found = session_in(event, "sessionID")
            self._session = text_of(event.get("sessionID"))
        part = table(event.get("part"))
        match kind:
            case "text":
                found.append(Says(text_of(part.get("text"))))
            case "tool_use":
                arguments = table(table(part.get("state")).get("input"))
                found.append(Does(text_of(part.get("tool")), files_in(arguments), text_of(arguments.get("command"))))
            case "step_finish":
                tokens = table(part.get("tokens"))
                cached = number(table(tokens.get("cache")), "read")
                tokens_in = number(tokens, "input") + cached
                used = Used(tokens_in, cached, number(tokens, "output"), money(part.get("cost")), is_total=False)
                found.append(used)
                if part.get("reason") == "stop":
                    found.append(Closed())
            case "error":
                found.append(Closed(_refusal_in(table(event.get("error")), moment)))
        return found


def _refusal_in(error: dict[str, Any], moment: LineMoment) -> Any:
    fields = table(error.get("data"))
    status = fields.get("statusCode")
    body = _body(fields.get("responseBody"))
    headers = table(fields.get("responseHeaders"))
    return refusal(
        text_of(fields.get("message")) or text_of(error.get("name")) or "it gave no reason",
        moment.now,
        status=status if isinstance(status, int) and not isinstance(status, bool) else None,
        zone=moment.zone,
        until=body.get("resets_at"),
        retry_after=headers.get("retry-after"),
        kind=_KINDS.get(text_of(error.get("name"))),
    )


def _body(text: object) -> dict[str, Any]:
    try:
        body = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return table(table(body).get("error"))


OPENCODE = Adapter(
    "opencode",
    launch,
    OpencodeOutput,
    Advice(auth="sign in with `opencode auth login`"),
    resumes=True,
    same_directory=True,
    own=(".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"),
)
