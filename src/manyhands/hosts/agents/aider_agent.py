"""aider, which only prints and exits with 0 whatever happened. Its last line about a request decides."""

import re

from manyhands.hosts.agents.adapter import Adapter, Advice, AgentLaunch, Errand, LineMoment, QuietErrors
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
from manyhands.hosts.agents.refusal_texts import refusal

_ERROR = re.compile(r"^litellm\.(\w+): ")
_OVER = re.compile(r"^Model .{1,200} has hit a token limit!$")
_RETRYING = re.compile(r"^Retrying in [\d.]+ seconds")
_TOKENS = re.compile(
    r"^Tokens: ([\d.,]+)(k?) sent,(?: [\d.,]+k? cache \w+,)*(?: [\d.,]+k? cache \w+)? ?([\d.,]+)(k?) received\."
    r"(?: Cost: \$([\d.]+) message)?"
)
_EDITED = re.compile(r"^Applied edit to (.{1,1000})$")
_KINDS = {
    "AuthenticationError": RefusalKind.AUTH,
    "PermissionDeniedError": RefusalKind.AUTH,
    "ContextWindowExceededError": RefusalKind.PERMANENT,
    "BadRequestError": RefusalKind.PERMANENT,
    "NotFoundError": RefusalKind.PERMANENT,
    "InternalServerError": RefusalKind.BUSY,
    "ServiceUnavailableError": RefusalKind.BUSY,
    "APIConnectionError": RefusalKind.UNREACHABLE,
    "Timeout": RefusalKind.BUSY,
}
_MESSAGE_LINES_MAX = 12


def launch(errand: Errand) -> AgentLaunch:
    argv = [*(errand.program or ("aider",)), "--message-file", errand.prompt_file, "--yes-always", "--no-auto-commits"]
    argv += ["--no-gitignore", "--no-analytics", "--no-check-update", "--no-show-model-warnings", "--no-pretty"]
    argv += ["--no-show-release-notes"]
    argv += [] if errand.in_git else ["--no-git"]  # it would make a repository
    kept = errand.prompt_file.removesuffix(".txt")
    argv += ["--chat-history-file", f"{kept}.history.md", "--input-history-file", f"{kept}.history"]
    argv += ["--model", errand.model] if errand.model else []
    return AgentLaunch((*argv, *errand.args), {"TERM": "dumb"}, by_stdin=False)


class AiderOutput(QuietErrors):
    def __init__(self) -> None:
        self._error: list[str] | None = None  # the message of the last error, line by line
        self._kind: RefusalKind | None = None
        self._answered = False

    def read(self, line: str, moment: LineMoment) -> list[AgentEvent]:
        line = line[:2000].rstrip()
        if (found := _ERROR.match(line)) is not None:
            self._answered, self._kind = False, _KINDS.get(found[1])
            self._error = [line[found.end() :]]
            return []
        if _OVER.match(line) is not None:
            self._answered, self._kind, self._error = False, RefusalKind.PERMANENT, [line]
            return []
        if _RETRYING.match(line) is not None:
            return [Retrying(line)]
        if (found := _TOKENS.match(line)) is not None:
            tokens_out = _count(found[3], found[4])
            if tokens_out:
                self._answered, self._error = True, None
            cost = float(found[5]) if found[5] and found[5].count(".") <= 1 and found[5] != "." else None
            return [Used(_count(found[1], found[2]), 0, tokens_out, cost, is_total=False)]
        if (found := _EDITED.match(line)) is not None:
            return [Does("edit", (found[1],))]
        if self._error is not None and len(self._error) < _MESSAGE_LINES_MAX:
            self._error.append(line)
            return []
        return [Says(line)] if line else []

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        if self._error is not None:
            return [Closed(self._refusal(moment))]
        return [Closed()] if self._answered and exit_code == 0 else []

    def _refusal(self, moment: LineMoment) -> AgentRefusal:
        assert self._error is not None
        return refusal(" ".join(self._error), moment.now, zone=moment.zone, kind=self._kind)


def _count(digits: str, thousands: str) -> int:
    try:
        return min(int(float(digits.replace(",", "")) * (1000 if thousands else 1)), 2**53)
    except (ValueError, OverflowError):
        return 0


AIDER = Adapter(
    "aider",
    launch,
    AiderOutput,
    Advice(auth="set the key of its model's provider, such as OPENAI_API_KEY"),
    litter=(".aider.*",),
    own=(".aider",),
)
