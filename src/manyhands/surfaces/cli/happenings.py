"""What happened in a run, from its events, as lines that people read while it runs."""

import enum
from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted, HostPaused, WidthMoved, WorkersMoved
from manyhands.core.obstacles import Hold, budget_hold, hold_of
from manyhands.core.state import AttemptRecord, Record, Run
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import TaskState
from manyhands.surfaces.cli.printing import duration


class Tone(enum.Enum):
    """How much a line should be noticed."""

    GOOD = "good"
    BAD = "bad"  # a person wants to see it when it happens
    WAITS = "waits"  # it is waited out
    PLAIN = "plain"


def tone_of(ending: Ending) -> Tone:
    match ending.kind:
        case EndingKind.DONE:
            return Tone.GOOD
        case EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.LOST:
            return Tone.BAD
        case EndingKind.OVERLOADED:
            return Tone.WAITS
        case EndingKind.CANCELLED | EndingKind.PREEMPTED:
            return Tone.PLAIN
        case kind:
            assert_never(kind)


class Happened(NamedTuple):
    at: float
    what: str  # an ending, `width`, `workers`, `paused`, `quiet` or `budget`
    name: str  # of the attempt, the host or the run
    text: str
    tone: Tone = Tone.PLAIN
    is_of_lane: bool = False  # the width of a lane moved, mostly because that of its host did


class Happenings:
    """Reads every batch of events of one run, from its opening on."""

    def __init__(self, book: Book, run: str) -> None:
        self._book = book
        self._run = run
        self._record_of: dict[int, Record] = {}
        self._held: dict[str, str] = {}  # host or run → what holds it, and was told

    def read(self, batch: Sequence[AnyEvent]) -> Iterator[Happened]:
        run = self._book.runs.get(self._run)
        if run is None:
            return
        for event in batch:
            match event:
                case AttemptStarted() if event.run == self._run:
                    self._record_of[event.attempt] = run.records[event.task]
                case AttemptEnded() if event.attempt in self._record_of:
                    yield from _ended(self._record_of.pop(event.attempt), event.attempt)
                case WidthMoved():
                    place = f"{event.kind}@{event.host}" if event.kind else event.host
                    move = f"{place} {event.was} → {event.width}"
                    yield Happened(event.at, "width", move, event.reason, is_of_lane=bool(event.kind))
                case WorkersMoved():
                    yield Happened(event.at, "workers", f"{event.host} {event.was} → {event.workers}", event.reason)
                case HostPaused():
                    until = "" if event.until is None else f" for {duration(max(0.0, event.until - event.at))}"
                    yield Happened(event.at, "paused", event.host, f"{event.why}{until}", Tone.WAITS)
        yield from self.holds()

    def holds(self) -> Iterator[Happened]:
        """What holds hosts or the run and was not told yet. Quiet hours begin without an event."""
        run = self._book.runs.get(self._run)
        if run is None or not run.unfinished:
            return
        found = [(host.name, hold_of(host)) for host in self._book.hosts.values()]
        for name, hold in [*found, (run.name, budget_hold(run.budget_hold))]:
            if hold is None:
                self._held.pop(name, None)
            elif self._held.get(name) != hold.what:
                self._held[name] = hold.what
                yield Happened(self._book.at, hold.what, name, _held(hold, self._book.at), Tone.WAITS)


def _held(hold: Hold, at: float) -> str:
    left = "" if hold.until is None else duration(hold.until - at)
    match hold.what:
        case "quiet":
            return f"{hold.text}, in {left}"
        case "budget":
            anew = f"; it begins anew in {left}" if left else ""
            return f"{hold.text}{anew}; `manyhands inbox` has the command that raises it"
        case what:
            assert_never(what)


def _ended(record: Record, attempt: int) -> Iterator[Happened]:
    for number, tried in enumerate(record.history or (), 1):
        if tried.attempt == attempt and tried.ending is not None and tried.ended_at is not None:
            took = duration(tried.ended_at - tried.started_at)
            name = f"{record.task.id}#{number}@{tried.host}"
            parts = [took, tried.ending.detail, _what_follows(record, tried)]
            text = "  ".join(part for part in parts if part)
            yield Happened(tried.ended_at, tried.ending.word, name, text, tone_of(tried.ending))


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


def after(run: Run, at: float) -> str:
    """When something happened, counted from when the run was opened or last continued."""
    return duration(max(0.0, at - run.bounded_at))
