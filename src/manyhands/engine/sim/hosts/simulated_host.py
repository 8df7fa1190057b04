"""The interface of a simulated host.

A host has no clock: it is told the time, says when something next happens to it, and returns what ended.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import Protocol, TypeVar

from msgspec import Struct

from manyhands.core.values.ending import Ending
from manyhands.core.values.widths import Reading


class Job(Struct, gc=False):
    """What one task asks of a host. Which fields matter depends on the family of the host."""

    kind: str
    work: float  # what counts as goodput when it is done
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    seconds: float = 0.0  # how long it takes on an idle host
    memory_bytes: float = 0.0  # peak
    duty: float = 0.0  # share of its life in which it uses a core
    progress: float = 0.0  # of a session that is resumed
    fails_after: float | None = None  # its first attempt ends in an unrelated error after this share of its life


class Finished(Struct, frozen=True, gc=False):
    at: float
    attempt: int
    ending: Ending


class SimulatedHost(Protocol):
    @property
    def overloads(self) -> int:
        """Refusals, preemptions and kills so far."""

    @property
    def kills(self) -> int:
        """Attempts that ran out of memory."""

    @property
    def shows_output(self) -> bool:
        """Is the first output of an attempt seen?"""

    def first_outputs(self, now: float) -> list[int]:
        """The attempts whose first output came since the last call."""

    def draw(self, random: Random, kind: str = "") -> Job:
        """A job of this host's mix, or of one kind of it."""

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None: ...

    def cancel(self, now: float, attempt: int) -> None:
        """Stop it; it is not reported as finished."""

    def next_event_at(self) -> float:
        """When to call `advance` next; `math.inf`: nothing will happen by itself."""

    def advance(self, now: float) -> list[Finished]:
        """Live until `now` and return what ended on the way."""

    def reading(self, now: float) -> Reading | None:
        """What a probe would see; None for a host that shows nothing."""


NEVER = math.inf


def log_normal(random: Random, mean: float, sigma: float) -> float:
    return mean * math.exp(random.gauss(0, sigma) - sigma * sigma / 2)


class Share(Struct, frozen=True):
    """One kind of a mix and its part of the tasks."""

    kind: str
    share: float


S = TypeVar("S", bound=Share)


def pick(random: Random, mix: Sequence[S], kind: str) -> S:
    if kind:
        for each in mix:
            if each.kind == kind:
                return each
    point = random.random()
    for each in mix:
        if point < each.share:
            return each
        point -= each.share
    return mix[-1]
