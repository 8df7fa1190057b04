"""Everything that can happen to the core, as plain values: the vocabulary of the journal.

Inputs come from outside. Decisions are made by the scheduler and journalled beside the input that led to
them, so that a journal replays to the same state for ever, whatever later versions would decide.
Fields may be added with a default; none is ever removed or renamed.
"""

from msgspec import Struct

from manyhands.core.model import Ending, Host, ProcessHandle, Rule, Task


class Event(Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    at: float


# Inputs


class HostsConfigured(Event, tag="hosts"):
    """The hosts as the config has them now. Sent at every start; replaces what was there."""

    hosts: tuple[Host, ...]
    rules: tuple[Rule, ...] = ()


class RunOpened(Event, tag="run"):
    run: str
    seed: int = 0
    concurrency: int | None = None
    fail_fast: bool = False
    source: str = ""  # where its tasks come from, for people and for resuming
    parents: dict[str, int] = {}  # parent → the most of its children at once


class RunResumed(Event, tag="resumed"):
    """The same run is wanted again after a stop; its bounds may be new."""

    run: str
    concurrency: int | None = None
    fail_fast: bool = False


class RunDrained(Event, tag="drained"):
    """Start nothing more in this run; what is in flight settles."""

    run: str


class TasksSubmitted(Event, tag="submitted"):
    run: str
    tasks: tuple[Task, ...]


class AttemptSpawned(Event, tag="spawned"):
    """The attempt's process exists but waits at the gate: it runs only once this is on disk."""

    attempt: int
    process: ProcessHandle


class AttemptEnded(Event, tag="ended"):
    attempt: int
    ending: Ending


class CancelAsked(Event, tag="cancel"):
    run: str
    task: str = ""  # "": the whole run
    why: str = ""


class RetryAsked(Event, tag="retry"):
    """A task that ended otherwise than done gets a fresh set of attempts; so do those skipped because of it."""

    run: str
    task: str


class DeferAsked(Event, tag="defer"):
    run: str
    task: str


class ResumeAsked(Event, tag="undefer"):
    run: str
    task: str


class HostPaused(Event, tag="pause"):
    host: str
    why: str = ""
    until: float | None = None


class HostResumed(Event, tag="unpause"):
    host: str


class WidthSet(Event, tag="width_set"):
    """A person pins a host's width, or (None) frees it again."""

    host: str
    width: int | None


class Woke(Event, tag="woke"):
    """Time passed to where something may be due."""


# Decisions


class AttemptStarted(Event, tag="started"):
    attempt: int
    run: str
    task: str
    host: str


class StopDecided(Event, tag="stop"):
    """The attempt is to be stopped, and this is what its ending will be called."""

    attempt: int
    why: str  # an EndingKind: timed_out, cancelled or preempted
    detail: str = ""


class RetryDecided(Event, tag="backoff"):
    run: str
    task: str
    until: float


class WidthMoved(Event, tag="width"):
    host: str
    width: int
    was: int
    reason: str


Input = (
    HostsConfigured
    | RunOpened
    | RunResumed
    | RunDrained
    | TasksSubmitted
    | AttemptSpawned
    | AttemptEnded
    | CancelAsked
    | RetryAsked
    | DeferAsked
    | ResumeAsked
    | HostPaused
    | HostResumed
    | WidthSet
    | Woke
)
Decision = AttemptStarted | StopDecided | RetryDecided | WidthMoved
AnyEvent = Input | Decision
