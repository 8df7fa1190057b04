"""Gemini CLI, by its stream of JSON."""

import re
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
from manyhands.hosts.agents.agent_events import AgentEvent, Closed, Does, RefusalKind, Retrying, Returned, Says, Used
from manyhands.hosts.agents.refusal_texts import api_error, number, refusal, table, text_of

#: Its exit code is the HTTP status, of which the system keeps the lowest eight bits.
_STATUS_OF_EXIT = {status % 256: status for status in (400, 401, 403, 404, 429, 500, 502, 503, 504)}
_NO_AUTH_EXIT = 41
_ASKS_AGAIN = re.compile(r"Attempt \d+ failed")
_WARNING_CHARACTERS_MAX = 500


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("gemini",)), "--yolo", "--skip-trust", "-o", "stream-json"]
    argv += ["-m", errand.model] if errand.model else []
    argv += ["--resume", errand.session] if errand.session else []
    return AgentLaunch((*argv, *errand.args))


class GeminiOutput(JsonLines):
    hears_errors = True

    def __init__(self) -> None:
        self._failed = ""

    def warned(self, line: str) -> list[AgentEvent]:
        """It says here alone that it waits and asks again, which may take minutes."""
        return [Retrying(line[:_WARNING_CHARACTERS_MAX])] if _ASKS_AGAIN.match(line) else []

    def hear(self, kind: str, event: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        match kind:
            case "init":
                return session_in(event, "session_id")
            case "message" if event.get("role") == "assistant" and text_of(event.get("content")):
                return [Says(text_of(event.get("content")), whole=event.get("delta") is not True)]
            case "tool_use":
                arguments = table(event.get("parameters"))
                tool = text_of(event.get("tool_name"))
                return [Does(tool, files_in(arguments), text_of(arguments.get("command")), runs=True)]
            case "tool_result":
                return [Returned()]
            case "result":
                stats = table(event.get("stats"))
                used = Used(number(stats, "input_tokens"), number(stats, "cached"), number(stats, "output_tokens"))
                if event.get("status") == "success":
                    return [used, Closed()]
                # The exit code has the status, which tells more than the sentence.
                self._failed = text_of(table(event.get("error")).get("message")) or "it gave no reason"
                return [used]
        return []

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        if exit_code == _NO_AUTH_EXIT:
            return [Closed(refusal("no way to authenticate is set up", moment.now, kind=RefusalKind.AUTH))]
        if not self._failed:
            return []
        status = _STATUS_OF_EXIT.get(exit_code)
        error = api_error(self._failed)
        text = self._failed.strip() if error is None else error
        return [Closed(refusal(text, moment.now, status=status, zone=moment.zone))]


GEMINI = Adapter(
    "gemini",
    launch,
    GeminiOutput,
    Advice(auth="start `gemini` once and choose how to authenticate, or set GEMINI_API_KEY"),
    resumes=True,
    same_directory=True,
    own=(".gemini",),
)
