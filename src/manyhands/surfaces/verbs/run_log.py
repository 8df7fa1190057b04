"""The log of a run from its journal: one entry for each event that concerns it, in words and as it was journalled."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.apps.serve.event_log import EventLines, Fields, line
from manyhands.core.events import (
    AnyEvent,
    AttemptStarted,
    RunDrained,
    RunOpened,
    RunResumed,
    RunStopped,
    TaskEdited,
)
from manyhands.core.scheduler import Scheduler, joined
from manyhands.core.state import Run
from manyhands.core.values.task import Task, TaskState
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.contract.journal import JournalReader


class LogEntry(Struct, frozen=True):
    at: float
    text: str  # one line, as `manyhands serve` logs it
    event: dict[str, Any]  # as journalled, without secrets; `began`, `skipped` and `run_ended` are in the log alone


class RunLog:
    """Call `catch_up` again for what was journalled since."""

    def __init__(self, run: str, secrets: Secrets) -> None:
        self._run, self._secrets = run, secrets
        self._scheduler = Scheduler()
        self._book = self._scheduler.book
        self._lines = EventLines(self._book, secrets)
        self._seq = 0
        self._attempts: set[int] = set()  # of the run
        self._lanes: set[tuple[str, str]] = set()  # host and kind that were told
        self._entries: list[LogEntry] = []
        self._was_over = False
        self._before: Task | None = None  # a task as it was until it was edited
        self._skipped: set[str] = set()  # tasks that were told

    @property
    def is_over(self) -> bool:
        run = self._book.runs.get(self._run)
        return run is not None and run.ended_at is not None

    def catch_up(self, reader: JournalReader) -> list[LogEntry]:
        self._scheduler.replay_each(self._told(joined(self._read(reader))))
        entries, self._entries = self._entries, []
        return entries

    def _read(self, reader: JournalReader) -> Iterator[AnyEvent]:
        for seq, event in reader.read(self._seq):
            self._seq = seq
            yield event

    def _told(self, events: Iterable[AnyEvent]) -> Iterator[AnyEvent]:
        for event in events:
            self._was_over = self.is_over
            self._before = self._task_before(event)
            yield event  # it is applied when the next one is asked for
            self._tell(event)

    def _task_before(self, event: AnyEvent) -> Task | None:
        if not isinstance(event, TaskEdited) or event.run != self._run or self._run not in self._book.runs:
            return None
        record = self._book.runs[self._run].records.get(event.task.id)
        return record.task if record is not None else None

    def _tell(self, event: AnyEvent) -> None:
        texts = self._lines.lines([event])
        if self._concerns(event):
            for text in texts:
                told = self._secrets.redact(msgspec.json.encode(event).decode())
                text = f"{text} fields={self._edited(event.task)}" if isinstance(event, TaskEdited) else text
                self._entries.append(LogEntry(event.at, text, msgspec.json.decode(told)))
            if isinstance(event, RunOpened):
                for host in self._book.hosts.values():
                    self._explain(event.at, {"host": host.name, "width": host.width}, host.limit.reason)
            elif isinstance(event, AttemptStarted):
                self._tell_lane(event)
        if self._run in self._book.runs:
            self._tell_skipped(event.at, self._book.runs[self._run])
            if self.is_over and not self._was_over:
                self._tell_end(event.at, self._book.runs[self._run])

    def _edited(self, task: Task) -> str:
        before = self._before
        if before is None:
            return "all"
        return (
            ",".join(name for name in task.__struct_fields__ if getattr(task, name) != getattr(before, name)) or "none"
        )

    def _tell_skipped(self, at: float, run: Run) -> None:
        if run.counts[TaskState.SKIPPED] == len(self._skipped):
            return
        skipped = [record for record in run.records.values() if record.state is TaskState.SKIPPED]
        for record in skipped:
            if record.task.id not in self._skipped:
                self._derived(at, "skipped", {"task": record.task.id, "run": run.name, "why": record.cause.why or None})
        self._skipped = {record.task.id for record in skipped}

    def _tell_end(self, at: float, run: Run) -> None:
        counts = {str(state): count for state, count in run.counts.items() if count}
        took_s = round(max(0.0, at - run.bounded_at), 3)
        self._derived(at, "run_ended", {"run": run.name, **counts, "took_s": took_s})

    def _concerns(self, event: AnyEvent) -> bool:
        """Events of hosts concern the run from its opening to its end. Then later dispatchers change nothing of it."""
        if self._was_over and self.is_over and isinstance(event, RunResumed | RunDrained | RunStopped):
            return False
        if isinstance(event, AttemptStarted) and event.run == self._run:
            self._attempts.add(event.attempt)
        attempt = getattr(event, "attempt", None)
        if attempt is not None:
            return attempt in self._attempts
        run = getattr(event, "run", None)
        return run == self._run if run is not None else self._run in self._book.runs and not self._was_over

    def _tell_lane(self, event: AttemptStarted) -> None:
        host = self._book.hosts[event.host]
        kind = self._book.runs[event.run].records[event.task].task.kind
        if (host.name, kind) not in self._lanes:
            self._lanes.add((host.name, kind))
            lane = host.lane(kind)
            width = host.width if lane.width is None else lane.width
            self._explain(event.at, {"host": host.name, "kind": kind, "width": width}, lane.why)

    def _explain(self, at: float, fields: Fields, why: str) -> None:
        self._derived(at, "began", {**fields, "why": why or None})

    def _derived(self, at: float, action: str, fields: Fields) -> None:
        """What follows from events and is none itself."""
        text = line(at, {"action": action, **fields}, self._secrets.redact)
        known = {
            name: self._secrets.redact(value) if isinstance(value, str) else value
            for name, value in fields.items()
            if value is not None
        }
        self._entries.append(LogEntry(at, text, {"type": action, "at": at, **known}))
