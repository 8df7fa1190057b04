"""What the service needs from any backlog: the tasks that are wanted now, and a place for their results."""

import os
from collections.abc import Callable, Container, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from manyhands.core.events import CancelAsked, Input
from manyhands.core.state import Record, Run
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.task import Task
from manyhands.readers.problems import Problem
from manyhands.sources.config.cron import Schedule
from manyhands.sources.plans.plan_settings import PlanSettings

#: Told what happens, for people and machines: `log("edited", "is taken over", task="a-1", run="plan-1")`.
BacklogLog = Callable[..., None]


def unwanted(at: float, run: str, task: str, why: str) -> CancelAsked:
    """The backlog does not want the task. If it does again, the task comes back."""
    return CancelAsked(at, run, task, f"in the backlog: {why}", CausedBy.BACKLOG)


class Remark(Struct, frozen=True):
    """Something for the log. Nothing else follows from it."""

    task: str
    text: str


class BacklogSteps(Struct):
    """What follows from a look at the backlog and at the run: in the journal first, then in the backlog."""

    events: list[Input] = []
    changes: list[Any] = []
    remarks: list[Remark] = []


class WantedTasks(Struct, frozen=True):
    """A backlog as it stood at one moment."""

    tasks: Mapping[str, Task]  # by id, in order
    problems: Sequence[Problem] = ()
    look_at: float | None = None  # when a waiting task may start even if nothing changes
    is_known: bool = True  # False: it was never read without problems, so nothing follows from it
    settings: PlanSettings = PlanSettings()  # the bounds of its run
    mentioned: Container[str] = ()  # every id it knows, wanted or not
    version: object = None  # equal while the backlog is unchanged; None: unknown
    snapshot: Any = None  # for the backlog's own comparisons


class TaskVerdict(Struct, frozen=True):
    holds: bool
    why: str = ""  # it does not


def holder_of(run: str, store: Path) -> str:
    """The name under which this dispatcher holds tasks for the run, the same in its next life.

    Runs of other stores and machines may have the same names. What they hold is not ours.
    """
    whose = sha256(f"{os.uname().nodename}:{store.resolve()}".encode()).hexdigest()[:8]
    return f"manyhands-{run}-{whose}"


class LiveBacklog(Protocol):
    name: str  # of its run, before the number
    source: str  # an absolute path or a URL: how its run is found again
    weight: float
    claims_hint: str  # how its tasks can say what they touch
    schedule: Schedule | None  # each of its times opens a run; None: one run, for as long as there is work

    def begin(self, run: str) -> None:
        """Tell the backlog the name of its run."""

    def watched(self) -> Sequence[Path]:
        """The files to watch for changes."""

    def read(self, now: float) -> WantedTasks:
        """Called in a thread, one call at a time. A bad file is a problem, and the last good reading stays."""

    def reconcile(self, wanted: WantedTasks, run: Run, at: float) -> BacklogSteps:
        """Pure."""

    def write(self, changes: Sequence[Any]) -> list[tuple[str, TaskVerdict]]:
        """Called in a thread. Returns (task, verdict) for each change of `reconcile` when it is on disk."""

    def releases(self, wanted: WantedTasks, records: Mapping[str, Record]) -> list[Any]:
        """The changes that release tasks which will not continue now."""

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        """In a thread: take these tasks before they start; each with the time at which a person last wanted it again.

        What cannot be had must not run.
        """

    @property
    def claims(self) -> bool:
        """Whether tasks must be taken before they start."""
