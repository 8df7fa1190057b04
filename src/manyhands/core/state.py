"""What the scheduler keeps and alone changes: runs, their tasks, hosts, lanes, attempts in flight."""

from typing import TYPE_CHECKING

from msgspec import Struct

from manyhands.core.clutch.difficulty import Difficulty
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import Host, ProcessHandle
from manyhands.core.values.task import Claims, Task, TaskState
from manyhands.core.values.widths import Limit

if TYPE_CHECKING:
    from manyhands.core.ready import Group


class AttemptRecord(Struct, omit_defaults=True, gc=False):
    """One try at a task, as it is remembered."""

    attempt: int
    host: str
    started_at: float
    ended_at: float | None = None
    ending: Ending | None = None
    queued_at: float | None = None  # since when it was ready; None: the record is older than this field


class Record(Struct, omit_defaults=True, gc=False):
    """A task and what has become of it. No cycles go through here, so the collector need not look."""

    task: Task
    run: str
    number: int  # its place among all submitted: its age
    state: TaskState = TaskState.BLOCKED
    since: float = 0.0  # when it came into this state
    waits_for: int = 0  # needs that are not done yet
    tries: int = 0  # attempts that count against `attempts`
    setbacks: int = 0  # overloads in a row, which do not
    until: float = 0.0  # in backoff: when it is over
    wanted_at: float = 0.0  # when someone last said that it shall go on after all
    held: bool = False  # with deferred: by an ordering rule, with its whole pool
    cause: str = ""  # why it is deferred, failed, cancelled or skipped
    history: list[AttemptRecord] | None = None
    chain: float = 1.0  # the longest chain of tasks that hangs on it, itself included
    dependents: list["Record"] | None = None

    @property
    def seen_bytes(self) -> int:
        """The memory it was seen to use when it ran out of it; 0 if it did not."""
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
    """Where a family of a run stands."""

    round: int = 0
    phase: str = "over"  # trying, reverting; over: the next batch may begin
    trying: tuple[str, ...] = ()
    later: tuple[tuple[str, ...], ...] = ()
    steps: tuple[str, ...] = ()  # the tasks of this round, in order
    reverts: tuple[str, ...] = ()  # those that put it back
    interruptions: int = 0


class Run:
    """One backlog being worked off: its tasks and its own bounds."""

    def __init__(self, name: str, seed: int, source: str, parents: dict[str, int], opened_at: float) -> None:
        self.name = name
        self.seed = seed
        self.source = source
        self.parent_bounds = parents
        self.opened_at = opened_at
        self.bounded_at = opened_at  # when its own bounds were last set
        self.weight = 1.0  # its share of the hosts, against other runs
        self.concurrency: int | None = None
        self.fail_fast = False
        self.draining = False  # start nothing more
        self.settled = True  # nothing more happens without a person, and this has been said
        self.ended_at: float | None = None
        self.records: dict[str, Record] = {}
        self.counts: dict[TaskState, int] = dict.fromkeys(TaskState, 0)
        self.counts_of_kind: dict[str, dict[TaskState, int]] = {}
        self.unfinished = 0
        self.in_flight = 0
        self.peak = 0
        self.children_in_flight: dict[str, int] = {}  # only of parents with a bound
        self.left_of_kind: dict[str, int] = {}  # unfinished tasks, for ordering rules
        self.families: dict[str, FamilyState] = {}
        self.members: dict[str, list[Record]] = {}  # family → its tasks
        self.awaited: dict[str, list[Record]] = {}  # a need not submitted yet → who waits for it


class Running:
    """An attempt in flight."""

    __slots__ = (
        "area_before",
        "attempt",
        "claims",
        "host",
        "process",
        "record",
        "started_at",
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
        self.stop_why: EndingKind | None = None  # set once it is to be stopped
        self.stop_detail = ""
        self.area_before = host.area
        self.width_before = host.width

    def __str__(self) -> str:
        return f"{self.record.task.id}#{len(self.record.history or ())}@{self.host.name}"


class Lane:
    """The attempts of one kind on one host."""

    __slots__ = ("in_flight", "peak", "usual_s", "why", "width")

    def __init__(self, width: int | None, why: str = "") -> None:
        self.width = width  # None: only the host's own width binds
        self.why = why
        self.in_flight = 0
        self.peak = 0
        self.usual_s: float | None = None  # how long a good attempt of the kind takes here


class HostState:
    """A host as the scheduler sees it now."""

    def __init__(self, host: Host, limit: Limit) -> None:
        self.host = host
        self.name = host.name
        self.limit = limit
        self.width = limit.width
        self.reason = limit.reason
        self.difficulty: Difficulty | None = None  # of its kinds; None where a person pinned the width
        self.pinned: int | None = None  # a person's word over the limit's
        self.lanes: dict[str, Lane] = {}
        self.running: dict[int, Running] = {}  # len(running) <= width, except just after a cut
        self.peak = 0
        self.used: dict[str, float] = {}  # resources taken by what runs
        self.paused: str | None = None  # why, if it is
        self.paused_until: float | None = None
        self.refused = 0  # overloads since anything else ended here
        self.trials = 0  # pauses since then
        self.on_trial = False  # one attempt at a time, until it answers again
        self.workers: int | None = None  # model workers it should have; None: nobody has a say in that
        self.workers_why = ""
        self.barrier: Record | None = None  # runs alone here
        self.kept_by = ""  # the barrier of that name is in force: no other task starts here
        self.kept_for: Group | None = None  # waits for the host to empty; only more urgent tasks may go before
        self.configured_at = 0.0
        self.area = 0.0  # integral of the number in flight over time
        self.area_at = 0.0

    def lane(self, kind: str) -> Lane:
        lane = self.lanes.get(kind)
        if lane is None:
            lane = self.lanes[kind] = Lane(*self.lane_bound(kind, self.width))
        return lane

    def lane_bound(self, kind: str, width: int) -> tuple[int | None, str]:
        """The config's word, else what the kind's difficulty allows; None: only the host's own width binds."""
        configured = self.host.lanes.get(kind)
        if configured is not None:
            return configured, "set in the config"
        if self.difficulty is None or self.pinned is not None:
            return None, ""
        return self.difficulty.lane_width(kind, width)

    def advance(self, at: float) -> None:
        """Account for the time since the number in flight last changed."""
        self.area += len(self.running) * (at - self.area_at)
        self.area_at = at
