"""What a review says about a run, in the order of its parts."""

from msgspec import Struct

from manyhands.core.values.about import About
from manyhands.surfaces.review.task_notes import TaskNote


class Goal(Struct, frozen=True):
    source: str
    opened_at: float
    tasks: int
    by_kind: dict[str, int]
    by_priority: dict[int, int]
    concurrency: int | None
    hosts: tuple[str, ...]  # hosts that attempts ran on
    about: About = About()  # as the plan says it


class HostShare(Struct, frozen=True):
    host: str
    attempts: int
    done: int
    peak: int
    busy_s: float  # the sum of the times of its attempts
    width: int | None  # its width at the end
    cost: float | None  # None: unknown


class RunOutcome(Struct, frozen=True):
    is_all_done: bool
    headline: str
    counts: dict[str, int]
    endings: dict[str, int]  # ending of attempts → how many
    ended_at: float | None
    took_s: float
    peak: int
    mean_in_flight: float
    one_at_a_time_s: float  # all attempts one after another
    tokens_in: int
    tokens_out: int
    cost: float | None
    hosts: list[HostShare]


class Moment(Struct, frozen=True):
    """A decision, and why."""

    at: float
    after_s: float  # since the run was opened
    what: str  # width, retry, preempted, deferred, cancelled, paused, family, edited, resumed …
    who: str  # a host, or a task
    text: str
    why: str
    times: int = 1  # how often the same was decided


class OpenQuestion(Struct, frozen=True):
    """Something that a person should look at."""

    what: str  # needs_person, failed, skipped, deferred, cancelled, unfinished, undeclared writes, not delivered, lost
    task: str
    why: str
    attempts: int
    tail: str
    log: str  # the command that shows all of it
    cost: str


class TaskTreeNode(Struct):
    """A task or a parent of tasks, with its children."""

    id: str
    title: str
    state: str  # for a parent that is not a task: done, running … as its children are
    needs: tuple[str, ...]
    done: int  # tasks below it and itself
    total: int
    children: list["TaskTreeNode"]
    spent_s: float = 0.0  # by its attempts and those of all tasks below it
    tokens: int = 0
    cost: float | None = None
    is_task: bool = True


class Review(Struct, frozen=True):
    run: str
    goal: Goal
    outcome: RunOutcome
    next_steps: list[str]
    decisions: list[Moment]
    decisions_total: int
    questions: list[OpenQuestion]
    questions_total: int
    tree: list[TaskTreeNode]
    notes: list[TaskNote] = []  # what the tasks wanted remembered, the newest first
    notes_total: int = 0
    epic: str = ""  # it tells only of what is below this parent; "": of the whole run


class PeriodReview(Struct, frozen=True):
    """Several runs, one segment for each that was at work in the period."""

    since: float
    until: float
    segments: list[Review]  # the newest run first
    total: int  # runs, of which the newest are told
