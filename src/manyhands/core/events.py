"""Everything that can happen to the core, as plain values: the vocabulary of the journal.

Inputs come from outside. The scheduler makes decisions, which are journalled beside the input that led to them. So a
journal always replays to the same state, whatever later versions would decide.
Fields may be added with a default. None is ever removed or renamed. A value that older journals do not have defaults to
None: `old_journals` fills it in when it reads them, and code that writes an event states it.
"""

from typing import Any

from msgspec import Struct

from manyhands.core.values.about import RunAbout
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Family, Host, ProcessHandle, Route, Rule
from manyhands.core.values.provenance import CausedBy, Origin, Purpose
from manyhands.core.values.question import Question, Verdict
from manyhands.core.values.spending_limit import SpendingLimit
from manyhands.core.values.task import Task
from manyhands.core.values.task_change import TaskChange
from manyhands.core.values.widths import Reading


class Event(Struct, frozen=True, omit_defaults=True, tag_field="type", gc=False):
    at: float


# Inputs


class HostsConfigured(Event, frozen=True, tag="hosts"):
    """The hosts in the config now. Sent at every start; replaces the hosts before."""

    hosts: tuple[Host, ...]
    rules: tuple[Rule, ...] = ()
    families: tuple[Family, ...] = ()
    routes: tuple[Route, ...] = ()
    budgets: tuple[SpendingLimit, ...] = ()


class RunOpened(Event, frozen=True, tag="run"):
    run: str
    seed: int = 0
    concurrency: int | None = None
    fail_fast: bool = False
    source: str = ""  # where its tasks come from: see its purpose
    parents: dict[str, int] = {}  # parent → the most of its children at once
    weight: float = 1.0  # its share of the hosts, against other runs
    purpose: Purpose | None = None
    max_cost: float | None = None  # nothing more starts once its attempts have cost this much
    about: RunAbout | None = None  # what it is for


class ScheduleKept(Event, frozen=True, tag="scheduled"):
    """All times of this schedule up to that one are dealt with: a run was opened, or left out with a reason."""

    source: str  # of the runs that it opens
    schedule: str  # as it was then; a changed one begins anew
    until: float


class RunResumed(Event, frozen=True, tag="resumed"):
    """The run continues after a stop, perhaps with other bounds."""

    run: str
    concurrency: int | None = None
    fail_fast: bool = False
    weight: float | None = None  # None: as before
    max_cost: float | None = None
    about: RunAbout | None = None  # None: as before


class RunDrained(Event, frozen=True, tag="drained"):
    """Start nothing more in this run. Running attempts finish."""

    run: str


class RunStopped(Event, frozen=True, tag="stopped"):
    """Start nothing more and stop the running attempts, which count as preempted. What agents hold they keep."""

    run: str


class RunPutAway(Event, frozen=True, tag="put_away"):
    """The run has ended and is no longer kept in memory. The journal still has it."""

    run: str


class RunNoted(Event, frozen=True, tag="noted"):
    """An application's own note on its run. The core keeps the notes in order and does not read them."""

    run: str
    note: dict[str, Any]
    ends: bool = False  # the run ends with this note; a run without tasks has no other end


class TasksSubmitted(Event, frozen=True, tag="submitted"):
    run: str
    tasks: tuple[Task, ...]
    origin: Origin | None = None  # of all of them


class TaskEdited(Event, frozen=True, tag="edited"):
    """The backlog has changed a task. The change applies unless the task has started or ended."""

    run: str
    task: Task
    origin: Origin | None = None  # where it comes from now


class AttemptSpawned(Event, frozen=True, tag="spawned"):
    """The attempt's process exists but waits at a gate. It runs only when this event is on disk."""

    attempt: int
    process: ProcessHandle


class AttemptShowed(Event, frozen=True, tag="showed"):
    """The attempt has put out something for the first time: its host is at work on it."""

    attempt: int


class AttemptEnded(Event, frozen=True, tag="ended"):
    attempt: int
    ending: Ending


class WorkWanted(Event, frozen=True, tag="wanted"):
    """An agent waits for a task of a host until then. A moment that has passed: it waits no longer."""

    host: str
    puller: str
    until: float
    kinds: tuple[str, ...] = ()  # globs; none: every kind that the host takes
    run: str = ""
    task: str = ""  # only this task of that run, which is kept for it


class LeaseRenewed(Event, frozen=True, tag="renewed"):
    """The agent that holds this attempt is at work on it."""

    attempt: int
    puller: str
    progress: str = ""
    tokens_in: int = 0  # so far
    tokens_out: int = 0
    cost: float | None = None


class WorkHandedIn(Event, frozen=True, tag="handed_in"):
    """The agent says how the attempt that it holds has ended. `preempted`: it gives the task back."""

    attempt: int
    puller: str
    ending: Ending


class CancelAsked(Event, frozen=True, tag="cancel"):
    run: str
    task: str = ""  # "": the whole run
    why: str = ""
    by: CausedBy | None = None


class RetryAsked(Event, frozen=True, tag="retry"):
    """A task that ended but is not done gets new attempts. So do the tasks that were skipped because of it."""

    run: str
    task: str
    again: bool = False  # also if it is done: tasks that need it and have not started wait for it again


class DeferAsked(Event, frozen=True, tag="defer"):
    run: str
    task: str


class ResumeAsked(Event, frozen=True, tag="undefer"):
    run: str
    task: str


class QuestionAsked(Event, frozen=True, tag="asked"):
    """An attempt asks a person something. Its process waits for the answer."""

    attempt: int
    question: Question


class QuestionAnswered(Event, frozen=True, tag="answered"):
    run: str
    task: str
    question: str  # as it was asked; an answer to another question changes nothing
    words: str
    by: str = ""  # who, as far as it is known


class WorkJudged(Event, frozen=True, tag="judged"):
    """A person has looked at work that waits for approval."""

    run: str
    task: str
    commit: str  # the work that was looked at; if it is no longer what waits, nothing changes
    verdict: Verdict
    words: str = ""
    by: str = ""  # who, as far as it is known


class ChangeAsked(Event, frozen=True, tag="change"):
    """A person changes a task that waits. What the backlog says of the same fields counts again when it changes."""

    run: str
    task: str
    change: TaskChange


class HostPaused(Event, frozen=True, tag="pause"):
    host: str
    why: str = ""
    until: float | None = None


class HostResumed(Event, frozen=True, tag="unpause"):
    host: str


class WidthSet(Event, frozen=True, tag="width_set"):
    """A person fixes the width of a host, or (None) lets the clutch decide again."""

    host: str
    width: int | None


class HostRead(Event, frozen=True, tag="read"):
    """What a probe saw of a host, about once a second while attempts run there. None: nothing to see."""

    host: str
    reading: Reading | None = None
    trouble: str | None = None  # only when it changed: why the probe sees nothing; "": it sees the host again


class WorkersMoved(Event, frozen=True, tag="workers"):
    """How many model workers a host should have now, and why."""

    host: str
    workers: int
    was: int
    reason: str


class MemoryForgotten(Event, frozen=True, tag="forgotten"):
    """Forget what was learned about a host, about a kind, or (both empty) about everything."""

    host: str = ""
    kind: str = ""


class BudgetRaised(Event, frozen=True, tag="raised"):
    """A budget may be used once more: of a run, or today of a host, an account or the day."""

    budget: str
    key: str = ""  # the run, the host or the account; "": the day


class Delivered(Event, frozen=True, tag="delivered"):
    """A sink has accepted a result."""

    delivery: int


class DeliveryGivenUp(Event, frozen=True, tag="dead_letter"):
    """A sink refused a result too often. A person may look at it and have it sent again."""

    delivery: int
    error: str
    tries: int = 0


class ResendAsked(Event, frozen=True, tag="resend"):
    delivery: int = 0  # 0: all dead letters, or those of the app
    app: str = ""


class Woke(Event, frozen=True, tag="woke"):
    """Time has passed, and something may be due."""


# Decisions


class AttemptStarted(Event, frozen=True, tag="started"):
    attempt: int
    run: str
    task: str
    host: str
    puller: str = ""  # the agent that came for it
    lease_until: float = 0.0  # it holds the attempt until then, unless it renews its lease


class StopDecided(Event, frozen=True, tag="stop"):
    """The attempt must stop, and its ending will have this kind."""

    attempt: int
    why: EndingKind  # timed_out, cancelled, preempted, or (a lease that ran out) lost
    detail: str = ""
    by: CausedBy | None = None


class RetryDecided(Event, frozen=True, tag="backoff"):
    run: str
    task: str
    until: float


class WidthMoved(Event, frozen=True, tag="width"):
    host: str
    width: int
    was: int
    reason: str
    kind: str = ""  # the lane of the host; "": the whole host


class FamilyMoved(Event, frozen=True, tag="family"):
    """A family of tasks takes its next step, for this reason. The event says all that follows from it."""

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
    interruptions: int = 0  # rounds in a row that were interrupted, though no member caused it


class BudgetReached(Event, frozen=True, tag="reached"):
    """A budget is used up."""

    budget: str
    key: str
    soft: bool
    why: str  # its figures


Input = (
    HostsConfigured
    | RunOpened
    | ScheduleKept
    | RunResumed
    | RunDrained
    | RunStopped
    | RunPutAway
    | RunNoted
    | TasksSubmitted
    | TaskEdited
    | AttemptSpawned
    | AttemptShowed
    | AttemptEnded
    | WorkWanted
    | LeaseRenewed
    | WorkHandedIn
    | CancelAsked
    | RetryAsked
    | DeferAsked
    | ResumeAsked
    | QuestionAsked
    | QuestionAnswered
    | WorkJudged
    | ChangeAsked
    | HostPaused
    | HostResumed
    | WidthSet
    | HostRead
    | WorkersMoved
    | MemoryForgotten
    | BudgetRaised
    | Delivered
    | DeliveryGivenUp
    | ResendAsked
    | Woke
)
Decision = AttemptStarted | StopDecided | RetryDecided | WidthMoved | FamilyMoved | BudgetReached
AnyEvent = Input | Decision
