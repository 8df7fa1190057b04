"""What the table of an agent host says beside what all hosts say."""

import math
from typing import Any

from msgspec import Struct

from manyhands.readers.problems import FieldPath, Sheet, did_you_mean

#: The agents that are known by name; what their output means is known too.
AGENT_NAMES = ("claude", "codex", "gemini", "qwen", "opencode", "aider")
#: What a described agent may speak like; "exit": its exit code and the ending file are all it says.
READS = (*AGENT_NAMES, "exit")
_EXAMPLE = '`agent = { run = ["my-agent", "--json"], reads = "claude" }`'


class DescribedAgent(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An agent that is not known by name."""

    run: tuple[str, ...]  # {prompt_file}, {model} and {session} are filled in
    reads: str = "exit"  # whose output it speaks like


class AgentLimits(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where an attempt ends, whatever is left to do."""

    turns: int | None = None
    cost: float | None = None
    tokens: int | None = None


def check_agent(agent: object, path: FieldPath, sheet: Sheet) -> bool:
    if isinstance(agent, str):
        if agent in AGENT_NAMES:
            return True
        near = did_you_mean(agent, AGENT_NAMES)
        sheet.wrong(path, agent, f"must be {' or '.join(AGENT_NAMES)}", near or f"or describe it: {_EXAMPLE}")
        return False
    assert isinstance(agent, dict)
    if not agent["run"] or not agent["run"][0]:
        sheet.wrong((*path, "run"), agent["run"], "must be a command line", _EXAMPLE)
        return False
    if agent.get("reads", "exit") not in READS:
        sheet.wrong((*path, "reads"), agent["reads"], f"must be {' or '.join(READS)}", _EXAMPLE)
        return False
    return True


def check_limits(limits: dict[str, Any], path: FieldPath, sheet: Sheet) -> bool:
    bad = {name: value for name, value in limits.items() if value is not None and not 0 < value < math.inf}
    for name, value in bad.items():
        sheet.wrong((*path, name), value, "must be a finite number above 0", "leave it out for no limit")
    return not bad
