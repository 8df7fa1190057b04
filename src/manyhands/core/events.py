"""Everything that can happen to the core, as plain values: the vocabulary of the journal.

Inputs come from outside. Decisions are made by the scheduler and journalled beside the input that led to
them, so that a journal replays to the same state for ever, whatever later versions would decide.
Fields may be added with a default; none is ever removed or renamed.
"""

from typing import Any

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Family, Host, ProcessHandle, Route, Rule
from manyhands.core.values.task import Task
from manyhands.core.values.widths import Reading


class Event(Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    at: float


# Inputs


class HostsConfigured(Event, frozen=True, tag="hosts"):
    """The hosts as the config has them now. Sent at every start; replaces what was there."""

    hosts: tuple[Host, ...]
    rules: tuple[Rule, ...] = ()
    families: tuple[Family, ...] = ()
    routes: tuple[Route, ...] = ()


class RunOpened(Event, frozen=True, tag="run"):
    run: str
    seed: int = 0
    concurrency: int | None = None
    fail_fast: bool = False
    source: str = ""  # where its tasks come from, for people and for resuming
    parents: dict[str, int] = {}  # parent → the most of its children at once
    weight: float = 1.0  # its share of the hosts, against other runs
    max_cost: float | None = None  # nothing more starts once its attempts have cost this much


class RunResumed(Event, frozen=True, tag="resumed"):
    """The same run is wanted again after a stop; its bounds may be new."""

    run: str
    concurrency: int | None = None
    fail_fast: bool = False
    weight: float | None = None  # None: as before
    max_cost: float | None = None


class RunDrained(Event, frozen=True, tag="drained"):
    """Start nothing more in this run; what is in flight settles."""

    run: str


class RunStopped(Event, frozen=True, tag="stopped"):
    """Start nothing more and stop what is in flight; the stopped attempts count as preempted."""

    run: str


class RunPutAway(Event, frozen=True, tag="put_away"):
    """All of the run has ended, and whoever wants to know of it reads the journal: it is no longer kept in memory."""

    run: str


class RunNoted(Event, frozen=True, tag="noted"):
    """An application's own word on its run. The core keeps the notes of a run in order and does not read them."""

    run: str
    note: dict[str, Any]
    ends: bool = False  # the run has ended with this note; for a run without tasks nothing else would say so


class TasksSubmitted(Event, frozen=True, tag="submitted"):
    run: str
    tasks: tuple[Task, ...]


class TaskEdited(Event, frozen=True, tag="edited"):
    """The backlog says something else of a task now. Taken over unless the task has started or ended."""

    run: str
    task: Task


class AttemptSpawned(Event, frozen=True, tag="spawned"):
    """The attempt's process exists but waits at the gate: it runs only once this is on disk."""

    attempt: int
    process: ProcessHandle


class AttemptEnded(Event, frozen=True, tag="ended"):
    attempt: int
    ending: Ending


class CancelAsked(Event, frozen=True, tag="cancel"):
    run: str
    task: str = ""  # "": the whole run
    why: str = ""


class RetryAsked(Event, frozen=True, tag="retry"):
    """A task that ended otherwise than done gets a fresh set of attempts; so do those skipped because of it."""

    run: str
    task: str


class DeferAsked(Event, frozen=True, tag="defer"):
    run: str
    task: str


class ResumeAsked(Event, frozen=True, tag="undefer"):
    run: str
    task: str


class HostPaused(Event, frozen=True, tag="pause"):
    host: str
    why: str = ""
    until: float | None = None


class HostResumed(Event, frozen=True, tag="unpause"):
    host: str


class WidthSet(Event, frozen=True, tag="width_set"):
    """A person pins a host's width, or (None) frees it again."""

    host: str
    width: int | None


class HostRead(Event, frozen=True, tag="read"):
    """A look at a host, about once a second while anything is in flight there. None: it shows nothing."""

    host: str
    reading: Reading | None = None


class WorkersMoved(Event, frozen=True, tag="workers"):
    """How many model workers a host should have now, and why."""

    host: str
    workers: int
    was: int
    reason: str


class MemoryForgotten(Event, frozen=True, tag="forgotten"):
    """What was learned of a host, of a kind, or (both empty) of all is no longer believed."""

    host: str = ""
    kind: str = ""


class Delivered(Event, frozen=True, tag="delivered"):
    """A sink has a result, for good."""

    delivery: int


class DeliveryGivenUp(Event, frozen=True, tag="dead_letter"):
    """A sink did not take a result, however often it was tried: a person may look at it and have it sent again."""

    delivery: int
    error: str
    tries: int = 0


class ResendAsked(Event, frozen=True, tag="resend"):
    delivery: int = 0  # 0: all that were given up, or those of the app
    app: str = ""


class Woke(Event, frozen=True, tag="woke"):
    """Time passed to where something may be due."""


# Decisions


class AttemptStarted(Event, frozen=True, tag="started"):
    attempt: int
    run: str
    task: str
    host: str


class StopDecided(Event, frozen=True, tag="stop"):
    """The attempt is to be stopped, and this is what its ending will be called."""

    attempt: int
    why: EndingKind  # timed_out, cancelled or preempted
    detail: str = ""


class RetryDecided(Event, frozen=True, tag="backoff"):
    run: str
    task: str
    until: float


class WidthMoved(Event, frozen=True, tag="width"):
    host: str
    width: int
    was: int
    reason: str
    kind: str = ""  # of this lane of the host; "": of the host as a whole


class FamilyMoved(Event, frozen=True, tag="family"):
    """A family of tasks takes its next step, for this reason. Says all that follows from it."""

    run: str
    family: str
    round: int
    phase: str  # trying, reverting, over or stuck
    reason: str
    trying: tuple[str, ...] = ()  # the members of this round
    later: tuple[tuple[str, ...], ...] = ()  # those of rounds to come
    tasks: tuple[Task, ...] = ()  # the steps that are submitted now
    done: tuple[str, ...] = ()  # members that are verified
    failed: dict[str, str] = {}  # member → why
    interruptions: int = 0  # rounds in a row that were cut short by no fault of a member


Input = (
    HostsConfigured
    | RunOpened
    | RunResumed
    | RunDrained
    | RunStopped
    | RunPutAway
    | RunNoted
    | TasksSubmitted
    | TaskEdited
    | AttemptSpawned
    | AttemptEnded
    | CancelAsked
    | RetryAsked
    | DeferAsked
    | ResumeAsked
    | HostPaused
    | HostResumed
    | WidthSet
    | HostRead
    | WorkersMoved
    | MemoryForgotten
    | Delivered
    | DeliveryGivenUp
    | ResendAsked
    | Woke
)
Decision = AttemptStarted | StopDecided | RetryDecided | WidthMoved | FamilyMoved
AnyEvent = Input | Decision
