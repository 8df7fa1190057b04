"""How long the oldest task of each run has waited though its needs are done, without a look at every task.

Tasks that came at the same moment form a cohort. Cohorts are kept by age, and what no longer waits is passed by
once and never looked at again; so the answer costs the same whether two hundred wait or two hundred thousand.
"""

import heapq
from collections.abc import Sequence
from typing import Protocol

from manyhands.core.book import Book
from manyhands.core.events import (
    AnyEvent,
    AttemptStarted,
    ResumeAsked,
    RetryAsked,
    RetryDecided,
    TaskEdited,
    TasksSubmitted,
)
from manyhands.core.state import Record, Run
from manyhands.core.values.task import TERMINAL, Task, TaskState

#: How many entries that no longer wait are dropped with every start, so that a scrape finds few of them.
STEPS_PER_START = 8


class EndedAttempt(Protocol):
    """An attempt that has ended, as far as it matters here: whose it was."""

    @property
    def record(self) -> Record: ...


class Cohort:
    """Tasks that may have begun to wait at the same moment, and how far those are passed by that do not wait."""

    __slots__ = ("members", "passed", "run", "since")

    def __init__(self, run: Run, since: float, members: Sequence[Record | Task]) -> None:
        self.run = run
        self.since = since
        self.members = members  # tasks as they came, to keep no second list of them
        self.passed = 0

    def oldest(self, steps_max: float) -> tuple[bool, int]:
        """Whether one waits, as far as was looked; and the steps that took."""
        steps = 0
        while self.passed < len(self.members) and steps < steps_max:
            steps += 1
            if self._waits(self.members[self.passed]):
                return True, steps
            self.passed += 1
        return self.passed < len(self.members), steps

    def _waits(self, member: Record | Task) -> bool:
        record = self.run.records[member.id] if isinstance(member, Task) else member
        waits = record.state is TaskState.READY or record.held or record.state is TaskState.BACKOFF
        since = record.until if record.state is TaskState.BACKOFF else record.since
        return waits and since <= self.since  # one that waits since later has come again, in another cohort


class QueueAge:
    def __init__(self, book: Book) -> None:
        self._book = book
        self._cohorts: dict[str, list[tuple[float, int, Cohort]]] = {}  # run → heap
        self._made = 0
        for run in book.runs.values():
            if run.unfinished:
                self._take_in(run)

    def __call__(self, run: Run, now: float) -> float:
        """Seconds; 0 when nothing waits."""
        since = self._oldest_since(run)
        return 0.0 if since is None else max(0.0, now - since)

    def recorded(self, batch: Sequence[AnyEvent], ended: Sequence[EndedAttempt]) -> None:
        """To be called with every batch, and the attempts that ended in it, once it is on disk."""
        # Whatever came in this batch waits since its last moment, at the latest.
        now = self._book.at
        for running in ended:
            # Those that waited for it alone may go from now on.
            if running.record.state is TaskState.DONE and running.record.dependents:
                self._add(running.record.run, now, tuple(running.record.dependents))
        for event in batch:
            match event:
                case TasksSubmitted():
                    self._add(event.run, now, event.tasks)
                case RetryDecided():
                    self._add_one(event.run, event.task, max(now, event.until))
                case TaskEdited():
                    self._add_one(event.run, event.task.id, now)
                case ResumeAsked() | RetryAsked():
                    self._add_one(event.run, event.task, now)
                case AttemptStarted():
                    self._oldest_since(self._book.runs[event.run], STEPS_PER_START)

    def _take_in(self, run: Run) -> None:
        """What a dispatcher finds when it starts: the one time that every task is looked at."""
        by_since: dict[float, list[Record]] = {}
        for record in run.records.values():
            if record.state not in TERMINAL:
                since = record.until if record.state is TaskState.BACKOFF else record.since
                by_since.setdefault(since, []).append(record)
        for since, records in by_since.items():
            self._add(run.name, since, records)

    def _add_one(self, run: str, task: str, since: float) -> None:
        found = self._book.runs.get(run)
        record = found.records.get(task) if found is not None else None
        if record is not None:
            self._add(run, since, (record,))

    def _add(self, run: str, since: float, members: Sequence[Record | Task]) -> None:
        self._made += 1
        cohort = Cohort(self._book.runs[run], since, members)
        heapq.heappush(self._cohorts.setdefault(run, []), (since, self._made, cohort))

    def _oldest_since(self, run: Run, steps_max: float = float("inf")) -> float | None:
        heap = self._cohorts.get(run.name, [])
        while heap and steps_max > 0:
            since, _, cohort = heap[0]
            waits, steps = cohort.oldest(steps_max)
            if waits:
                return since
            steps_max -= steps
            heapq.heappop(heap)
        return None
