"""The contract of an adapter for an agent program. Adapters are pure, so recordings are enough to test them."""

import datetime
import json
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from manyhands.hosts.agents.agent_events import AgentEvent, AgentSession
from manyhands.hosts.agents.refusal_texts import table, text_of

#: A longer line is not an event worth keeping. It may hold the whole output of a tool.
LINE_CHARACTERS_MAX = 8_000_000


class Errand(Struct, frozen=True, kw_only=True):
    """What an agent is sent out for."""

    prompt_file: str
    program: tuple[str, ...] = ()  # instead of the agent's own name: a path, or a wrapper
    model: str = ""
    args: tuple[str, ...] = ()  # the host's own, put after ours
    session: str = ""  # to be resumed
    directory: str = ""  # where it works
    in_git: bool = True  # that is in a git repository
    confined: bool = False  # the kernel confines it already
    turns: int | None = None
    cost: float | None = None


class SettingsFile(Struct, frozen=True):
    """Settings that a program takes only from a file."""

    variable: str  # by which it finds the file
    content: str
    #: Where it looks without the variable. If a person has a file there, or has set the variable, theirs counts.
    usual_places: tuple[str, ...]


class AgentLaunch(Struct, frozen=True):
    """How it is started. The prompt is its standard input unless a file holds it."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}
    by_stdin: bool = True


class LineMoment(Struct, frozen=True):
    """The surroundings at the moment of a line, because adapters read no clock."""

    now: float
    zone: datetime.tzinfo | None = None  # for clock times that name no zone; None: this machine's zone


class OutputReader(Protocol):
    """Reads one run of a program. It never raises, whatever a line holds."""

    hears_errors: bool  # its standard error tells something that its output does not

    def warned(self, line: str) -> list[AgentEvent]:
        """A line of its standard error."""
        ...

    def read(self, line: str, moment: LineMoment) -> list[AgentEvent]: ...

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        """What follows from the exit, for programs that do not report it otherwise."""
        ...


class Advice(Struct, frozen=True):
    """What a person can do about it, as the end of a sentence."""

    denied: str = "allow it with the `args` of its host"
    auth: str = "sign in with the program itself, or set its key in the environment"


class Adapter(Struct, frozen=True):
    name: str
    launch: Callable[[Errand], AgentLaunch]
    reader: Callable[[], OutputReader]
    advice: Advice = Advice()
    resumes: bool = False
    same_directory: bool = False  # it resumes only in the directory where it began
    litter: tuple[str, ...] = ()  # what it leaves where it works, and nobody wants: globs
    own: tuple[str, ...] = ()  # directories below the home where it keeps conversations, settings and caches
    settings: SettingsFile | None = None


class QuietErrors:
    """The standard error of most programs is for people."""

    hears_errors = False

    def warned(self, line: str) -> list[AgentEvent]:
        return []


class JsonLines(QuietErrors):
    """Reads programs that write one JSON object a line. It ignores other lines."""

    def read(self, line: str, moment: LineMoment) -> list[AgentEvent]:
        if not line.startswith("{") or len(line) > LINE_CHARACTERS_MAX:
            return []
        event = _json_in(line)
        if not isinstance(event, dict):
            return []
        return self.hear(text_of(event.get("type")), event, moment)

    def hear(self, kind: str, event: dict[str, Any], moment: LineMoment) -> list[AgentEvent]:
        raise NotImplementedError

    def finish(self, exit_code: int, moment: LineMoment) -> list[AgentEvent]:
        return []


def _json_in(line: str) -> Any:
    try:
        return msgspec.json.decode(line)  # several times as fast
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(line)  # takes what is not quite JSON too
    except (ValueError, RecursionError):
        return None


def session_in(event: dict[str, Any], *names: str) -> list[AgentEvent]:
    """The session that an event names, if its id can stand on a command line."""
    for name in names:
        found = event.get(name)
        if isinstance(found, str) and is_session(found):
            return [AgentSession(found)]
    return []


def is_session(text: str) -> bool:
    return 0 < len(text) <= 100 and text[0].isalnum() and all(c.isalnum() or c in "-_." for c in text)


def files_in(fields: object) -> tuple[str, ...]:
    """The paths among the arguments of a tool."""
    arguments = table(fields)
    names = ("file_path", "filePath", "path", "absolute_path", "notebook_path")
    return tuple(arguments[name] for name in names if isinstance(arguments.get(name), str))
