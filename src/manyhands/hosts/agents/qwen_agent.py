"""Qwen Code. After a refused request it reports success, and puts the error where its answer would be."""

from typing import Any

from manyhands.hosts.agents.adapter import Adapter, Advice, AgentLaunch, Errand, LineMoment, SettingsFile
from manyhands.hosts.agents.agent_events import AgentEvent, Closed, RefusalKind, Used
from manyhands.hosts.agents.claude_agent import StreamJson
from manyhands.hosts.agents.refusal_texts import api_error, number, refusal, table, text_of

_TURN_LIMIT_EXIT = 53
#: Otherwise it asks ten times more, a minute to five minutes apart, without a word. Of all its settings these count
#: least: those of the person and of the project go before them.
_SETTINGS = SettingsFile(
    "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
    '{"model": {"generationConfig": {"maxRetries": 0}}}',
    (
        "/etc/qwen-code/system-defaults.json",
        "/Library/Application Support/QwenCode/system-defaults.json",
    ),
)


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("qwen",)), "--yolo", "-o", "stream-json"]
    argv += ["-m", errand.model] if errand.model else []
    argv += ["--max-session-turns", str(errand.turns)] if errand.turns is not None else []
    argv += ["--resume", errand.session] if errand.session else []
    return AgentLaunch((*argv, *errand.args))


class QwenOutput(StreamJson):
    def _used(self, event: dict[str, Any]) -> list[Used]:
        usage = table(event.get("usage"))
        cached = number(usage, "cache_read_input_tokens")
        return [Used(number(usage, "input_tokens"), cached, number(usage, "output_tokens"), of_session=True)]

    def _closed(self, event: dict[str, Any], moment: LineMoment) -> Closed:
        if (error := api_error(text_of(event.get("result")))) is not None:
            return Closed(refusal(error, moment.now, zone=moment.zone))
        return super()._closed(event, moment)

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        if exit_code == _TURN_LIMIT_EXIT:
            return [Closed(refusal("stopped at its limit (max turns)", moment.now, kind=RefusalKind.LIMIT))]
        return []


QWEN = Adapter(
    "qwen",
    launch,
    QwenOutput,
    Advice(auth="start `qwen` once and sign in, or set OPENAI_API_KEY"),
    resumes=True,
    same_directory=True,
    own=(".qwen",),
    settings=_SETTINGS,
)
