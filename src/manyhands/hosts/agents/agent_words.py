"""What an agent does, in words for the attempt's output."""

from manyhands.hosts.agents.agent_events import AgentEvent, Closed, Denied, Does, Retrying, Says
from manyhands.hosts.executors.output_text import clean, one_line


class AgentWords:
    """Turns events into lines. The parts of a sentence become one line."""

    def __init__(self) -> None:
        self._begun = ""

    def lines(self, event: AgentEvent) -> str:
        if isinstance(event, Says) and not event.whole:
            self._begun += event.text
            whole, newline, self._begun = self._begun.rpartition("\n")
            return clean(whole + newline)
        return self.rest() + _line(event)

    def rest(self) -> str:
        begun, self._begun = self._begun, ""
        return f"{clean(begun)}\n" if begun.strip() else ""


def _line(event: AgentEvent) -> str:
    match event:
        case Says(text):
            return f"{clean(text).rstrip()}\n" if text.strip() else ""
        case Does():
            return f"{doing_line(doing(event))}\n"
        case Retrying(why):
            return f"… tries again: {one_line(why)}\n"
        case Denied(what):
            return f"✗ was not allowed: {one_line(what)}\n"
        case Closed(refused) if refused is not None:
            return f"✗ {one_line(refused.text)}\n"
    return ""


def doing(event: Does) -> str:
    """The tool with its files or its command."""
    with_what = ", ".join(event.files) or event.command
    return one_line(f"{event.tool} {with_what}")


def doing_line(does: str) -> str:
    """The line of output for what an agent does."""
    return f"→ {does}"
