"""Agents that come by themselves: what one waits for, and what it has in its hands."""

from msgspec import Struct

from manyhands.core.values.ending import Ending


class PullWish(Struct, frozen=True, omit_defaults=True, gc=False):
    """An agent waits for a task of a host until then."""

    puller: str  # the name of the agent
    until: float
    kinds: tuple[str, ...] = ()  # globs; none: every kind that the host takes
    run: str = ""
    task: str = ""  # only this task of that run, which is kept for it


class PullLease(Struct, omit_defaults=True):
    """An attempt in the hands of an agent. It is lost if the agent is not heard of until then."""

    puller: str
    until: float
    progress: str = ""  # what the agent last said
    tokens_in: int = 0  # what it said that it has used so far
    tokens_out: int = 0
    cost: float | None = None
    handed_in: Ending | None = None  # the work is no longer in its hands: it has ended, or its check is running
