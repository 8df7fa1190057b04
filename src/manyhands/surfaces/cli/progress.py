"""Shows the progress of a run on stderr: a live picture on a terminal, plain lines elsewhere."""

import os
import sys
from collections.abc import Sequence
from typing import Protocol

from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted, WidthMoved, WorkersMoved
from manyhands.core.state import AttemptRecord, Record, Run
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.cli.printing import counted, duration, say

#: Nobody reads more lines than this. Larger runs get a line with the totals every few seconds.
LINES_TASKS_MAX = 1000
LINE_EVERY_S = 5.0
#: Names are padded to the longest one so far, up to this length.
NAME_CHARACTERS_MAX = 40


class Watcher(Protocol):
    """Receives every batch of events after it is on disk, until it is stopped."""

    def recorded(self, batch: Sequence[AnyEvent]) -> None: ...

    def stop(self) -> None: ...


def watch(dispatcher: Dispatcher, run: str) -> Watcher:
    """Must be called before the run is opened or resumed, so that it sees every event."""
    watcher: Watcher
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from manyhands.surfaces.cli.live import LiveView

        watcher = LiveView(dispatcher, run)
    else:
        watcher = ProgressLines(dispatcher, run)
    dispatcher.recorded.append(watcher.recorded)
    return watcher


class ProgressLines:
    """Prints a line for every attempt that ends and every width that changes; for large runs, one every few seconds."""

    def __init__(self, dispatcher: Dispatcher, run: str) -> None:
        self._dispatcher = dispatcher
        self._run = run
        self._said_at = dispatcher.clock.now()
        self._record_of: dict[int, Record] = {}
        self._name_width = 0

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        run = self._dispatcher.book.runs.get(self._run)
        if run is None:
            return
        if len(run.records) > LINES_TASKS_MAX:
            self._say_how_far(run)
            return
        for event in batch:
            if isinstance(event, AttemptStarted) and event.run == self._run:
                self._record_of[event.attempt] = run.records[event.task]
            elif isinstance(event, AttemptEnded) and event.attempt in self._record_of:
                self._say_ended(run, self._record_of.pop(event.attempt), event.attempt)
            elif isinstance(event, WidthMoved):
                place = f"{event.kind}@{event.host}" if event.kind else event.host
                self._say(run, event.at, "width", f"{place} {event.was} → {event.width}", event.reason)
            elif isinstance(event, WorkersMoved):
                self._say(run, event.at, "workers", f"{event.host} {event.was} → {event.workers}", event.reason)

    def _say_how_far(self, run: Run) -> None:
        now = self._dispatcher.clock.now()
        if now - self._said_at >= LINE_EVERY_S:
            self._said_at = now
            say(f"{duration(now - run.bounded_at):>8}  {totals(run)}")

    def _say_ended(self, run: Run, record: Record, attempt: int) -> None:
        for number, tried in enumerate(record.history or (), 1):
            if tried.attempt == attempt and tried.ending is not None and tried.ended_at is not None:
                took = duration(tried.ended_at - tried.started_at)
                name = f"{record.task.id}#{number}@{tried.host}"
                parts = [took, tried.ending.detail, _what_follows(record, tried)]
                self._say(run, tried.ended_at, tried.ending.kind, name, "  ".join(part for part in parts if part))

    def _say(self, run: Run, at: float, what: str, name: str, text: str) -> None:
        self._name_width = min(NAME_CHARACTERS_MAX, max(self._name_width, len(name)))
        say(f"{duration(at - run.bounded_at):>8}  {what:<10} {name:<{self._name_width}}  {text}".rstrip())

    def stop(self) -> None:
        self._dispatcher.recorded.remove(self.recorded)


def _what_follows(record: Record, tried: AttemptRecord) -> str:
    """Whether another attempt follows one that did not succeed."""
    ending = tried.ending
    assert ending is not None
    assert tried.ended_at is not None
    if ending.kind is EndingKind.DONE or not record.history or record.history[-1] is not tried:
        return ""
    if record.state is TaskState.BACKOFF:
        return f"(again in {duration(record.until - tried.ended_at)})"
    if record.state is TaskState.FAILED:
        return "(trying again cannot help)" if ending.permanent else "(no attempts left)"
    return ""


def totals(run: Run) -> str:
    finished = sum(run.counts[state] for state in TERMINAL)
    return f"{finished} of {len(run.records)} · {counted({str(k): n for k, n in run.counts.items()})}"
