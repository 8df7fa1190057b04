"""The limits of one attempt: those of its task and of its host, whichever is lower."""

from typing import TypeVar

from manyhands.core.values.task import AttemptLimits
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.quantities import quantity
from manyhands.sources.config.agent_config import AgentLimits

N = TypeVar("N", int, float)


def bounds_of(host: AgentLimits, task: AttemptLimits | None) -> AttemptLimits:
    if task is None:
        return AttemptLimits(host.turns, host.cost, host.tokens)
    return AttemptLimits(_lower(host.turns, task.turns), _lower(host.cost, task.cost), _lower(host.tokens, task.tokens))


def reached(limits: AttemptLimits, tally: AgentTally, turns: int) -> str:
    """The limit that the attempt has exceeded, in words; "": none."""
    used = tally.used
    if limits.tokens is not None and used.tokens_in + used.tokens_out > limits.tokens:
        return f"reached its limit of {limits.tokens:,} tokens"
    if limits.cost is not None and used.cost is not None and used.cost > limits.cost:
        return f"reached its limit of {limits.cost:g} in cost"
    if limits.turns is not None and turns > limits.turns:
        return f"reached its limit of {quantity(limits.turns, 'turn')}"
    return ""


def _lower(one: N | None, other: N | None) -> N | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None
