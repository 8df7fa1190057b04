"""Codex, by the JSON events of `codex exec`."""

from typing import Any

from manyhands.hosts.agents.adapter import Adapter, Advice, AgentLaunch, Errand, JsonLines, LineMoment, session_in
from manyhands.hosts.agents.agent_events import AgentEvent, Closed, Denied, Does, Retrying, Returned, Says, Used
from manyhands.hosts.agents.refusal_texts import number, refusal, table, text_of


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("codex",)), "exec"]
    argv += ["resume"] if errand.session else []
    argv += ["--json", "--skip-git-repo-check"]
    # Its own sandbox does not start inside another one, and inside ours it is not needed.
    argv += (
        ["--dangerously-bypass-approvals-and-sandbox"] if errand.confined else ["-c", 'sandbox_mode="workspace-write"']
    )
    argv += ["-m", errand.model] if errand.model else []
    argv += errand.args
    argv += [errand.session] if errand.session else []
    return AgentLaunch((*argv, "-"))


class CodexOutput(JsonLines):
    def hear(self, kind: str, event: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        match kind:
            case "thread.started":
                return session_in(event, "thread_id")
            case "item.started" | "item.completed":
                return self._item(table(event.get("item")), kind == "item.completed")
            case "error":
                text = text_of(event.get("message"))
                return [Retrying(text)] if text.startswith("Reconnecting") else []
            case "turn.completed":
                usage = table(event.get("usage"))
                cached = number(usage, "cached_input_tokens")
                used = Used(number(usage, "input_tokens"), cached, number(usage, "output_tokens"), of_session=True)
                return [used, Closed()]
            case "turn.failed":
                text = text_of(table(event.get("error")).get("message"))
                return [Closed(refusal(text or "the turn failed", moment.now, zone=moment.zone))]
        return []

    def _item(self, item: dict[str, Any], completed: bool) -> list[AgentEvent]:
        match text_of(item.get("type")):
            case "agent_message" if completed:
                return [Says(text_of(item.get("text")))]
            case "command_execution" if not completed:
                return [Does("command", (), text_of(item.get("command")), runs=True)]
            case "command_execution" | "file_change" if item.get("status") == "declined":
                return [Denied(f"{item['type']} {text_of(item.get('command'))}".strip()), Returned()]
            case "command_execution" | "mcp_tool_call" if completed:
                return [Returned()]
            case "file_change" if completed:
                changes = item.get("changes")
                paths = [table(one).get("path") for one in changes] if isinstance(changes, list) else []
                return [Does("edit", tuple(path for path in paths if isinstance(path, str)))]
            case "mcp_tool_call" if not completed:
                return [Does(f"{text_of(item.get('server'))}.{text_of(item.get('tool'))}", runs=True)]
            case "web_search" if completed:
                return [Does("web search", (), text_of(item.get("query")))]
        return []


CODEX = Adapter(
    "codex",
    launch,
    CodexOutput,
    Advice(
        denied='`confine = "workspace"` of its host lets it run without its own sandbox',
        auth="sign in with `codex login`, or set the key of its provider",
    ),
    resumes=True,
    own=(".codex",),
)
