"""How an attempt ended: a value that is kept unchanged from the executor to the page."""

import enum
import math
from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct

from manyhands.core.values.question import Question


class EndingKind(enum.StrEnum):
    DONE = "done"
    FAILED = "failed"
    OVERLOADED = "overloaded"  # the host had no room: not the task's fault
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    LOST = "lost"  # the dispatcher, the host or the machine died while it ran

    @property
    def is_interruption(self) -> bool:
        """Was the attempt cut short, and not by its task's fault?"""
        match self:
            case EndingKind.LOST | EndingKind.PREEMPTED:
                return True
            case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.TIMED_OUT:
                return False
            case EndingKind.CANCELLED:
                return False  # a person asked for it
            case kind:
                assert_never(kind)


class Overload(enum.StrEnum):
    """What an attempt met that ended as `overloaded`."""

    RATE = "rate"  # a server refused the rate (429)
    QUOTA = "quota"  # a budget is used up
    UNREACHABLE = "unreachable"  # nobody answered
    LOAD = "load"


class Budget(Struct, frozen=True, omit_defaults=True, gc=False):
    """The rate limits that a server states in its answers, and what is left of them now."""

    requests_per_minute: float | None = None
    requests_left: float | None = None
    tokens_per_minute: float | None = None
    tokens_left: float | None = None


class NoteKind(enum.StrEnum):
    """What a task may want remembered."""

    OUTCOME = "outcome"  # what was achieved
    DECISION = "decision"  # what was chosen, and why
    QUESTION = "question"  # what is still open
    LESSON = "lesson"  # what the next one should know beforehand
    HANDOFF = "handoff"  # where the work stands, for whoever continues it


class Note(Struct, frozen=True, gc=False):
    kind: NoteKind
    text: str


class Artefact(Struct, frozen=True, omit_defaults=True, gc=False):
    """A file that an attempt left, as it was when the attempt ended."""

    path: str  # in the workspace
    size_bytes: int
    sha256: str
    is_copy: bool = False  # a copy of it is kept with the attempt


class Ending(Struct, frozen=True, omit_defaults=True, gc=False):
    """How an attempt ended, kept as a value all the way to the page."""

    kind: EndingKind
    detail: str = ""  # one line a person understands
    exit_code: int | None = None
    permanent: bool = False  # trying again cannot help (bad key, prompt too long): no retry
    retry_after_s: float | None = None  # the host said when to come back
    rate_limited: bool = False  # with overloaded: the rate was refused (429), not the load
    quota: bool = False  # with overloaded: a budget is used up until retry_after_s; not a sign of load
    unreachable: bool = False  # with overloaded: nobody answered
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None  # in any currency: as the attempt reported it, or by the prices of the host
    ttft_s: float | None = None  # time to the first token, if known
    budget: Budget | None = None  # rate limits the server stated
    memory_bytes: int = 0  # peak of the attempt's processes, if known
    tail: str = ""  # the last lines of output
    result: str = ""  # what a function returned (JSON) or a model answered, bounded
    session: str = ""  # by which an agent's conversation is found again
    failed_check: bool = False  # with failed: the attempt was done, but the check of its task did not pass
    notes: tuple[Note, ...] = ()  # what the attempt wants remembered
    needs_person: bool = False  # waiting does not help: with overloaded, the host needs one; with failed, the task does
    artefacts: tuple[Artefact, ...] = ()  # with done: what was saved and kept of it
    asks: Question | None = None  # the task waits for the answer; with done: for the approval of what was done

    @property
    def overload(self) -> Overload | None:
        match self.kind:
            case EndingKind.OVERLOADED if self.quota:
                return Overload.QUOTA
            case EndingKind.OVERLOADED if self.rate_limited:
                return Overload.RATE
            case EndingKind.OVERLOADED:
                return Overload.UNREACHABLE if self.unreachable else Overload.LOAD
            case (
                EndingKind.DONE
                | EndingKind.FAILED
                | EndingKind.TIMED_OUT
                | EndingKind.CANCELLED
                | EndingKind.PREEMPTED
                | EndingKind.LOST
            ):
                return None
            case kind:
                assert_never(kind)

    @property
    def word(self) -> str:
        """For people: an attempt that stopped to ask has not failed at its work."""
        return "asks" if self.kind is EndingKind.FAILED and self.needs_person else str(self.kind)


DONE = Ending(EndingKind.DONE)


def total_cost(costs: Iterable[float | None]) -> float | None:
    """None if none of them is known."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known else None
