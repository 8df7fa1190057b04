"""An agent that a person describes in the config: its command line, and which known agent its output is like."""

from manyhands.hosts.agents.adapter import Adapter, AgentLaunch, Errand, LineMoment, QuietErrors
from manyhands.hosts.agents.agent_events import AgentEvent, Closed, Says
from manyhands.hosts.agents.aider_agent import AIDER
from manyhands.hosts.agents.claude_agent import CLAUDE
from manyhands.hosts.agents.codex_agent import CODEX
from manyhands.hosts.agents.gemini_agent import GEMINI
from manyhands.hosts.agents.opencode_agent import OPENCODE
from manyhands.hosts.agents.qwen_agent import QWEN

#: The agents that are known by name.
KNOWN = {adapter.name: adapter for adapter in (CLAUDE, CODEX, GEMINI, QWEN, OPENCODE, AIDER)}
#: For programs whose result is only in their exit code or the ending file.
BY_EXIT = "exit"
_PROMPT_FILE = "{prompt_file}"


class PlainOutput(QuietErrors):
    """Every line is something the agent says. Only the exit code, or the ending file if there is one, closes it."""

    def read(self, line: str, moment: LineMoment) -> list[AgentEvent]:
        return [Says(line[:2000])] if line.strip() else []

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        return [Closed()] if exit_code == 0 else []


def described(run: tuple[str, ...], reads: str) -> Adapter:
    """Fills in `{prompt_file}`, `{model}` and `{session}`. Without `{prompt_file}` the prompt is the input."""
    by_stdin = not any(_PROMPT_FILE in argument for argument in run)

    def launch(errand: Errand) -> AgentLaunch:
        values = {_PROMPT_FILE: errand.prompt_file, "{model}": errand.model, "{session}": errand.session}
        argv = []
        for argument in run:
            for name, value in values.items():
                argument = argument.replace(name, value)
            argv.append(argument)
        return AgentLaunch((*argv, *errand.args), by_stdin=by_stdin)

    reader = PlainOutput if reads == BY_EXIT else KNOWN[reads].reader
    return Adapter(run[0], launch, reader)
