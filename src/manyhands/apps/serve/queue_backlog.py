"""A queue as a live backlog: entries are taken with a lease, and acknowledged once the ending of their task is on disk.

Nothing is remembered beside the journal. After a crash the queue says what we hold, and the journal what has ended.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from manyhands.apps.serve.live_backlog import BacklogSteps, TaskVerdict, WantedTasks, holder_of
from manyhands.apps.serve.reconcile import reconcile, was_taken_away
from manyhands.core.state import Record, Run
from manyhands.core.values.task import TERMINAL, Task
from manyhands.readers.name_rules import is_good_name
from manyhands.readers.problems import Problem
from manyhands.sources.config.cron import Schedule
from manyhands.sources.queues.entry_tasks import BadEntry, task_of
from manyhands.sources.queues.work_queue import QueueDown, Settlement, WorkQueue

#: How often the queue is asked when nothing happens here.
LOOK_EVERY_S = 0.5
AGAIN_S = 3.0


class Acknowledge(Struct, frozen=True):
    task: str
    settlement: Settlement


class GiveBack(Struct, frozen=True):
    task: str
    entry: str


class QueueBacklog:
    claims = True
    schedule: Schedule | None = None  # its entries come one by one
    claims_hint = "give the entries `claims`, or write `claims = {}` in [[backlogs]] if their tasks touch nothing"

    def __init__(
        self, queue: WorkQueue, like: Task, take: int, commands: bool, weight: float = 1.0, store: Path | None = None
    ) -> None:
        self.name = queue.name if is_good_name(queue.name) else "queue"
        self.source = queue.where
        self.weight = weight
        self._queue = queue
        self._like = like
        self._take = take
        self._commands = commands
        self._store = store or Path()
        self._holder = ""
        self._lock = threading.Lock()  # it is read, written and claimed from in different threads
        self._tasks: dict[str, Task] = {}  # by entry: what we hold
        self._refusals: list[Problem] = []  # told with the next reading
        self._last = WantedTasks({}, is_known=False)

    @property
    def holder(self) -> str:
        return self._holder

    def begin(self, run: str) -> None:
        self._holder = holder_of(run, self._store)

    def watched(self) -> Sequence[Path]:
        return ()

    def read(self, now: float) -> WantedTasks:
        try:
            with self._lock:
                self._hold()
        except QueueDown as error:
            problem = Problem(file=self.name, message=error.message, hint=error.hint)
            return replace(self._last, problems=(problem,), look_at=now + AGAIN_S)
        tasks = {task.id: task for task in self._tasks.values()}
        self._last = WantedTasks(
            tasks,
            tuple(self._refusals),
            look_at=now + LOOK_EVERY_S,
            mentioned=tasks,
            snapshot=dict(self._tasks),
        )
        self._refusals = self._refusals[-100:]
        return self._last

    def _hold(self) -> None:
        held = self._queue.hold(self._holder, self._take - len(self._tasks))
        tasks: dict[str, Task] = {}
        for entry in held:
            try:
                tasks[entry.id] = self._tasks.get(entry.id) or task_of(entry, self._like, self.name, self._commands)
            except BadEntry as bad:
                self._queue.refuse(self._holder, entry.id, str(bad))
                hint = "it is set aside; correct what fills the queue, and add it again"
                self._refusals.append(Problem(file=self.name, message=f"entry {entry.id}: {bad}", hint=hint))
        self._tasks = tasks

    def reconcile(self, wanted: WantedTasks, run: Run, at: float) -> BacklogSteps:
        entries: Mapping[str, Task] = wanted.snapshot or {}
        steps = reconcile(
            wanted,
            run,
            at,
            why_gone=lambda id: "its entry was acknowledged, or another consumer has it",
            comes_back=lambda record, task: False,
        )
        for entry, task in entries.items():
            record = run.records.get(task.id)
            if record is not None and record.state in TERMINAL and not was_taken_away(record):
                steps.changes.append(Acknowledge(task.id, _settlement(entry, record)))
        return steps

    def write(self, changes: Sequence[Any]) -> list[tuple[str, TaskVerdict]]:
        ended = [change.settlement for change in changes if isinstance(change, Acknowledge)]
        back = [change.entry for change in changes if isinstance(change, GiveBack)]
        with self._lock:
            ours = self._queue.settle(self._holder, ended) if ended else set()
            if back:
                self._queue.give_back(self._holder, back)
            for entry in (*back, *(one.entry for one in ended)):
                self._tasks.pop(entry, None)
        return [
            (change.task, _verdict(isinstance(change, GiveBack) or change.settlement.entry in ours))
            for change in changes
        ]

    def releases(self, wanted: WantedTasks, records: Mapping[str, Record]) -> list[Any]:
        return [
            GiveBack(task.id, entry)
            for entry, task in (wanted.snapshot or {}).items()
            if (record := records.get(task.id)) is None or record.state not in TERMINAL
        ]

    def claim(self, tasks: Mapping[str, float]) -> list[TaskVerdict]:
        with self._lock:
            entry_of = {task.id: entry for entry, task in self._tasks.items() if task.id in tasks}
            ours = self._queue.renew(self._holder, entry_of.values()) if entry_of else set()
        return [_verdict(entry_of.get(id) in ours) for id in tasks]


def _settlement(entry: str, record: Record) -> Settlement:
    ending = record.last_ending
    said = (ending.result or ending.tail) if ending is not None else ""
    detail = record.cause.why or (ending.detail if ending is not None else "")
    return Settlement(entry, str(record.state), detail, said)


def _verdict(holds: bool) -> TaskVerdict:
    return TaskVerdict(holds, "" if holds else "is held by another consumer, or was acknowledged")
