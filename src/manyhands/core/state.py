"""The state that only the scheduler changes: runs, their tasks, hosts, lanes, attempts in flight."""

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from manyhands.core.clutch.difficulty import Difficulty
from manyhands.core.clutch.limit_choice import AnyLimit
from manyhands.core.values.about import NO_WORDS, RunAbout
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, ProcessHandle
from manyhands.core.values.lease import PullLease, PullWish
from manyhands.core.values.provenance import NO_CAUSE, Cause, CausedBy, Origin, Purpose
from manyhands.core.values.question import Guidance, Judgement, Question
from manyhands.core.values.spending_limit import BudgetHold
from manyhands.core.values.task import Claims, Task, TaskState
from manyhands.core.values.task_change import KeptChange

if TYPE_CHECKING:
    from manyhands.core.ready import Group


_STEP = Origin.STEP  # a name costs less to look up than a member of an enum


class AttemptRecord(Struct, omit_defaults=True, gc=False):
    """One attempt at a task, as it is remembered."""

    attempt: int
    host: str
    started_at: float
    ended_at: float | None = None
    ending: Ending | None = None
    queued_at: float | None = None  # when it became ready; None: the record is older than this field
    asked_at: float | None = None  # since then it waits for an answer
    waited_s: float = 0.0  # for answers; this does not count for its time-out
    puller: str = ""  # the agent that came for it
    judged: Judgement | None = None  # by a person, after it had ended


class FamilyBarrier(Struct, frozen=True, gc=False):
    """The barrier of one family in one run: its steps share their host with each other and with nothing else."""

    run: str
    family: str

    def __str__(self) -> str:
        return f"family {self.family} of run {self.run}"


class Record(Struct, omit_defaults=True, gc=False):
    """A task and its state. Records form no cycles, so the garbage collector need not look at them."""

    task: Task
    run: str
    number: int  # its place among all submitted tasks, which is its age
    state: TaskState = TaskState.BLOCKED
    since: float = 0.0  # when it entered this state
    waits_for: int = 0  # needs that are not done yet
    tries: int = 0  # attempts that count against `attempts`
    setbacks: int = 0  # overloads in a row, which do not count against `attempts`
    until: float = 0.0  # in backoff: when the delay ends
    wanted_at: float = 0.0  # when a person last asked for it to continue
    held: bool = False  # with deferred: by an ordering rule, with its whole pool
    cause: Cause = NO_CAUSE  # why it is deferred, in backoff, failed, cancelled or skipped
    history: list[AttemptRecord] | None = None
    chain: float = 1.0  # the length of the longest chain of tasks that needs it, itself included
    dependents: list["Record"] | None = None
    origin: Origin = Origin.PLAN
    changed: KeptChange | None = None  # what a person changed of it
    told_from: int = 0  # the attempts before this one were at other work: the next attempt is not told of them
    question: Question | None = None  # what it asks a person now
    guidance: Guidance | None = None  # what people have said for its next attempt

    @property
    def is_step(self) -> bool:
        return self.origin is _STEP

    @property
    def barrier(self) -> bool | FamilyBarrier:
        """Does it need its host alone? A step of a family shares it with the other steps."""
        return FamilyBarrier(self.run, self.task.parent) if self.origin is _STEP else bool(self.task.barrier)

    @property
    def seen_bytes(self) -> int:
        """The memory that it used when it ran out of memory; 0 if it did not."""
        last = self.last_ending if self.setbacks else None
        return last.memory_bytes if last is not None else 0

    @property
    def last_ending(self) -> Ending | None:
        """How the latest finished attempt ended."""
        for tried in reversed(self.history or ()):
            if tried.ending is not None:
                return tried.ending
        return None


class FamilyState(Struct, omit_defaults=True):
    """The progress of a family in a run."""

    round: int = 0
    phase: str = "over"  # trying, reverting; over: the next batch may begin
    trying: tuple[str, ...] = ()
    later: tuple[tuple[str, ...], ...] = ()
    steps: tuple[str, ...] = ()  # the tasks of this round, in order
    reverts: tuple[str, ...] = ()  # the tasks that revert it
    interruptions: int = 0


class RunNote(Struct, frozen=True):
    """What an application has noted on its run."""

    at: float
    note: dict[str, Any]


class KeptRun(Struct, omit_defaults=True, eq=False):
    """What a snapshot keeps of a run, beside its tasks."""

    name: str
    seed: int
    source: str
    parent_bounds: dict[str, int]
    opened_at: float
    bounded_at: float = 0.0  # when its own bounds were last set
    weight: float = 1.0  # its share of the hosts, against other runs
    concurrency: int | None = None
    fail_fast: bool = False
    draining: bool = False  # start nothing more
    max_cost: float | None = None  # it drains once its attempts have cost this much
    cost: float = 0.0  # of its attempts so far, where known
    tokens: float = 0.0  # of its attempts so far, read and written
    ended_at: float | None = None
    peak: int = 0
    families: dict[str, FamilyState] = {}
    notes: list[RunNote] = []  # an application's own, in order; the core does not read them
    purpose: Purpose = Purpose.PLAN
    about: RunAbout = NO_WORDS


class Run(KeptRun, eq=False):
    """One run: its tasks and its own bounds. The fields declared here are counted from the tasks."""

    budget_hold: BudgetHold | None = None  # nothing of it starts because of this
    settled: bool = True  # nothing more happens without a person, and this was reported
    records: dict[str, Record] = {}
    counts: dict[TaskState, int] = field(default_factory=lambda: dict.fromkeys(TaskState, 0))
    counts_of_kind: dict[str, dict[TaskState, int]] = {}
    unfinished: int = 0
    in_flight: int = 0
    children_in_flight: dict[str, int] = {}  # only of parents with a bound
    left_of_kind: dict[str, int] = {}  # unfinished tasks, for ordering rules
    members: dict[str, list[Record]] = {}  # family → its tasks
    awaited: dict[str, list[Record]] = {}  # a need that is not submitted yet → the tasks that wait for it


class Running:
    """An attempt in flight."""

    __slots__ = (
        "area_before",
        "attempt",
        "claims",
        "host",
        "lease",
        "process",
        "record",
        "started_at",
        "stop_by",
        "stop_detail",
        "stop_why",
        "tried",
        "width_before",
    )

    def __init__(self, attempt: int, record: Record, host: "HostState", claims: Claims, tried: AttemptRecord) -> None:
        self.attempt = attempt
        self.record = record
        self.host = host
        self.claims = claims
        self.started_at = tried.started_at
        self.tried = tried
        self.process: ProcessHandle | None = None
        self.lease: PullLease | None = None  # only of an attempt that an agent came for
        self.stop_why: EndingKind | None = None  # set when it must stop
        self.stop_detail = ""
        self.stop_by = CausedBy.NOBODY
        self.area_before = host.area
        self.width_before = host.width

    def __str__(self) -> str:
        return f"{self.record.task.id}#{len(self.record.history or ())}@{self.host.name}"


class Lane(Struct, omit_defaults=True, eq=False):
    """The attempts of one kind on one host."""

    width: int | None  # None: only the host's own width applies
    why: str = ""
    peak: int = 0
    usual_s: float | None = None  # how long a good attempt of the kind takes here
    in_flight: int = 0


class KeptHost(Struct, omit_defaults=True, eq=False):
    """What a snapshot keeps of a host. A new field here is all it takes to keep one more thing."""

    host: Host
    limit: AnyLimit
    width: int
    reason: str
    lanes: dict[str, Lane] = {}  # of the kinds that have run here
    pinned: int | None = None  # the width that a person set, whatever the limit says
    peak: int = 0
    paused: str | None = None  # why, if it is
    paused_until: float | None = None
    is_closed: bool = False  # paused by a limit of its account
    needs_person: bool = False  # paused until a person has done something, such as logging in
    is_gone: bool = False  # the config no longer has it: paused until its last attempts have ended
    refused: int = 0  # overloads since anything else ended here
    trials: int = 0  # pauses since then
    on_trial: bool = False  # one attempt at a time, until it answers again
    workers: int | None = None  # model workers it should have; None: nothing scales them
    workers_why: str = ""
    probe_trouble: str = ""  # why its probe sees nothing
    kept_by: FamilyBarrier | None = None  # only tasks of this barrier start here
    configured_at: float = 0.0
    has_cost: bool = False  # attempts here have cost something or taken tokens
    wishes: dict[str, PullWish] = {}  # agents that wait for a task of it, by name, the first come first
    area: float = 0.0  # integral of the number in flight over time
    area_at: float = 0.0

    def pause(self, why: str, until: float | None, is_closed: bool = False, needs_person: bool = False) -> None:
        self.paused, self.paused_until = why, until
        self.is_closed, self.needs_person = is_closed, needs_person

    def resume(self) -> None:
        self.paused, self.paused_until = None, None
        self.is_closed = self.needs_person = False


class HostState(KeptHost, eq=False):
    """A host as the scheduler sees it now. The fields declared here follow from the running attempts and the book."""

    name: str = ""
    difficulty: Difficulty | None = None  # of its kinds; None if the config fixes the width
    running: dict[int, Running] = {}  # len(running) <= width, except just after a cut
    used: dict[str, float] = {}  # resources that running attempts use
    barrier: Record | None = None  # the task that runs alone here
    budget_hold: BudgetHold | None = None  # nothing starts here because of this
    quiet_until: float | None = None  # nothing starts here before
    kept_for: "Group | None" = None  # the group that the host empties for; only more urgent tasks may start before it

    def __post_init__(self) -> None:
        self.name = self.host.name

    def lane(self, kind: str) -> Lane:
        """The lane of a kind, to look at. Until the kind has run here, it is the lane it would get, and is not kept."""
        lane = self.lanes.get(kind)
        return Lane(*self.lane_bound(kind, self.width)) if lane is None else lane

    def open_lane(self, kind: str) -> Lane:
        """The lane of a kind, to change: an attempt starts in it, or its width moves."""
        lane = self.lanes.get(kind)
        if lane is None:
            lane = self.lanes[kind] = Lane(*self.lane_bound(kind, self.width))
        return lane

    def usual_s(self, kind: str) -> float | None:
        """How long a good attempt of the kind takes here; None if none is known."""
        lane = self.lanes.get(kind)
        return None if lane is None else lane.usual_s

    def lane_bound(self, kind: str, width: int) -> tuple[int | None, str]:
        """The width in the config, or else what the kind's difficulty allows. None: only the host's width applies."""
        configured = self.host.lanes.get(kind)
        if configured is not None:
            return configured, "set in the config"
        if self.difficulty is None or self.pinned is not None:
            return None, "only the host's own width applies"
        return self.difficulty.lane_width(kind, width)

    def advance(self, at: float) -> None:
        """Account for the time since the number in flight last changed."""
        self.area += len(self.running) * (at - self.area_at)
        self.area_at = at
