"""The log of a run from its journal: one entry for each event that concerns it, in words and as it was journalled."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from manyhands.apps.serve.event_log import EventLines, Fields, line
from manyhands.core.events import AnyEvent, AttemptStarted, RunOpened
from manyhands.core.scheduler import Scheduler, joined
from manyhands.engine.redaction import Secrets
from manyhands.engine.store.contract.journal import JournalReader


class LogEntry(Struct, frozen=True):
    at: float
    text: str  # one line, as `manyhands serve` logs it
    event: dict[str, Any]  # as journalled, without secrets; `began` is not journalled: it says where a width began


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
            yield event  # it is applied when the next one is asked for
            self._tell(event)

    def _tell(self, event: AnyEvent) -> None:
        texts = self._lines.lines([event])
        if not self._concerns(event):
            return
        for text in texts:
            told = self._secrets.redact(msgspec.json.encode(event).decode())
            self._entries.append(LogEntry(event.at, text, msgspec.json.decode(told)))
        if isinstance(event, RunOpened):
            for host in self._book.hosts.values():
                self._explain(event.at, {"host": host.name, "width": host.width}, host.limit.reason)
        elif isinstance(event, AttemptStarted):
            self._tell_lane(event)

    def _concerns(self, event: AnyEvent) -> bool:
        """Events of hosts concern the run from its opening to its end."""
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
        text = line(at, {"action": "began", **fields, "why": why or None}, self._secrets.redact)
        self._entries.append(
            LogEntry(at, text, {"type": "began", "at": at, **fields, "why": self._secrets.redact(why)})
        )
