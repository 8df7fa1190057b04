"""The book as a page sees it: what there is (`snapshot`), and what became different with each batch (`changes`).

A function of the book and of the events it is told of, so a journal on disk gives the same picture as a live run. Every
change says how something is now, never by how much it moved: told twice is told once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import manyhands
from manyhands.core import events as ev
from manyhands.core.book import Book
from manyhands.core.state import Record
from manyhands.core.values.ending import EndingKind, total_cost
from manyhands.core.values.task import TaskState, claims_of
from manyhands.quantiles import quantile
from manyhands.surfaces.api.picture.bars import Bar, Bars, tried_of
from manyhands.surfaces.api.picture.columns import TASKS_MAX, bar_columns, task_columns
from manyhands.surfaces.api.picture.gauges import Gauges
from manyhands.surfaces.api.picture.hot_claims import hot_claims
from manyhands.surfaces.api.picture.idle import IdleSpans, forms_of, idle_rows, note_form
from manyhands.surfaces.api.picture.past import STOOD_MAX, WIDTHS_MAX, Past
from manyhands.surfaces.api.picture.picture_rows import (
    PictureRow,
    Redact,
    counts_row,
    kinds_of,
    page_host,
    page_run,
    page_task,
    short,
    state_row,
    width_row,
)
from manyhands.surfaces.api.picture.queue_age import QueueAge
from manyhands.surfaces.api.picture.work_ceiling import WorkCeiling
from manyhands.surfaces.verbs.task_report import queued_at
from manyhands.surfaces.verbs.task_verbs import claims_row

RUNS_MAX = 1_000
#: How many of the latest durations of a lane tell what is slow for it.
DURATIONS_MAX = 50
#: The page lets the age of the oldest task grow by itself. It is told again when it differs by this much.
AGE_STEP_S = 0.5


class Picture:
    def __init__(self, book: Book, redact: Redact = str, seq: int = 0, age: QueueAge | None = None) -> None:
        """`age` is kept up to date by the caller; without it the picture keeps its own."""
        self.book = book
        self.seq = seq  # of the last event it has been told of
        self._redact = redact
        self._age = age or QueueAge(book)
        self._keeps_age = age is None
        self.bars = Bars(book)
        self._widths: deque[PictureRow] = deque(maxlen=WIDTHS_MAX)
        self._widths_total = 0
        self._durations: dict[tuple[str, str], deque[float]] = {}
        self._tokens = {"in": 0, "out": 0}
        self._cost: float | None = None
        for bar in self.bars.ended:
            self._learn(bar)
        self._changed: dict[int, Record] = {}
        book.changed_for.append(self._changed)
        self._last_number = book.last_number  # tasks with higher ones are new: all is to be told of them
        self._edited: set[int] = set()  # and of these
        self._runs: dict[str, None] = {}  # to be told whole
        self._hosts: dict[str, None] = {}
        self._ended: list[Bar] = []
        self._told_hosts: dict[str, PictureRow] = {}
        self._told_ended_at: dict[str, float | None] = {name: run.ended_at for name, run in book.runs.items()}
        self._idle = IdleSpans()
        self._gauges = Gauges()
        self._forms = forms_of(book)
        self._kinds = kinds_of(book)
        self._ceiling = WorkCeiling()
        waiting = {"oldest_s": 0.0, "runs": {}, "ready": 0, "ceiling": None}
        self._told: dict[str, Any] = {
            "claims": [],
            "waiting": waiting,
            "tokens": dict(self._tokens),
            "cost": self._cost,
        }
        self._told_since: dict[str, float] = {}
        self._stood: list[PictureRow] = []  # who waited, for a page that opens later
        #: Before this moment it saw nothing itself; None: there was nothing to see.
        self._looks_from: float | None = book.at if book.runs else None
        self._knows_past = not book.runs
        self._on: dict[type[Any], Callable[[Any, list[PictureRow]], None]] = {
            ev.AttemptStarted: self._on_started,
            ev.AttemptEnded: self._on_ended,
            ev.WidthMoved: self._on_width,
            ev.HostRead: self._on_read,
            ev.TasksSubmitted: self._on_submitted,
            ev.TaskEdited: self._on_edited,
            ev.HostsConfigured: self._on_hosts,
            ev.HostPaused: self._on_host,
            ev.HostResumed: self._on_host,
            ev.WidthSet: self._on_host,
            ev.WorkersMoved: self._on_host,
            ev.RunOpened: self._on_run,
            ev.RunResumed: self._on_run,
            ev.RunDrained: self._on_run,
            ev.RunStopped: self._on_run,
            ev.RunNoted: self._on_run,
        }
        self._tell_hosts()

    def learn_past(self, past: Past) -> None:
        """What happened before it looked; to be called once."""
        self._widths = deque([*past.widths, *self._widths], maxlen=WIDTHS_MAX)
        self._widths_total += past.widths_total
        self._stood = [*past.stood, *self._stood]
        self._knows_past = True

    def close(self) -> None:
        self.book.changed_for.remove(self._changed)

    def changes(self, batch: Sequence[ev.AnyEvent]) -> list[PictureRow]:
        """What changed since the last call. The cost depends on the batch, not on how many tasks wait."""
        happened: list[PictureRow] = []
        for event in batch:
            on = self._on.get(type(event))
            if on is not None:
                on(event, happened)
        self.seq += len(batch)
        if self._keeps_age:
            self._age.recorded(batch, self._ended)
        self._ended = []
        touched: dict[str, None] = {}
        tasks = [self._task(record, touched) for record in self._changed.values()]  # before what happened to them
        runs = self._tell_runs(touched)
        self._changed.clear()
        self._edited.clear()
        self._last_number = self.book.last_number
        return [*runs, *tasks, *happened, *self._tell_hosts()]

    def standing(self) -> list[PictureRow]:
        """What follows from the state, if it changed: idle hosts and why, the hottest claims, the oldest task."""
        rows: list[PictureRow] = []
        idle = idle_rows(self.book, self._forms, self._redact)
        if self._idle.now(self.book.at, idle):
            rows.append({"t": "idle", "idle": idle})
        claims = hot_claims(self.book)
        if claims != self._told["claims"]:
            self._told["claims"] = claims
            rows.append({"t": "claims", "claims": claims})
        return rows + self._tell_waiting()

    def snapshot(self, run: str | None = None) -> PictureRow:
        """Everything, as of the last `changes` and `standing`; of one run only, the tasks of that run."""
        runs = list(self.book.runs.values())
        return {
            "seq": self.seq,
            "at": self.book.at,
            "version": manyhands.__version__,
            "runs": [page_run(one, self._redact) for one in runs[-RUNS_MAX:]],
            "runs_total": len(runs),
            "kinds": list(self._kinds),
            "hosts": list(self._told_hosts.values()),
            "tasks": task_columns([one for one in runs if run in (None, one.name)], self._redact),
            "bars": bar_columns(self.bars),
            "widths": list(self._widths),
            "widths_total": self._widths_total,
            "idle": self._idle.rows,
            "idle_past": self._idle.spans(),
            "waiting_past": self._stood,
            "gauges": self._gauges.rows,
            "looks_from": self._looks_from,
            "knows_past": self._knows_past,
            **self._told,
        }

    def widths(self, host: str | None, since: float) -> list[PictureRow]:
        return [row for row in self._widths if row["at"] >= since and host in (None, row["host"])]

    def slowest_of(self, host: str, kind: str) -> float | None:
        """Nine of ten attempts that were done lately took no longer than this."""
        took = self._durations.get((host, kind))
        return quantile(sorted(took), 0.9) if took else None

    # What each event adds

    def _on_started(self, event: ev.AttemptStarted, rows: list[PictureRow]) -> None:
        record = self.book.runs[event.run].records[event.task]
        tried, number = tried_of(record, event.attempt)
        bar = self.bars.start(record, tried, number)
        self._hosts[event.host] = None
        rows.append(
            {
                "t": "start",
                "attempt": event.attempt,
                "run": event.run,
                "task": event.task,
                "kind": record.task.kind,
                "host": event.host,
                "slot": bar.slot,
                "queued_at": queued_at(tried),
                "at": tried.started_at,
                "number": number,
                "of": record.task.attempts,
                "claims": claims_row(claims_of(record.task)),
            }
        )

    def _on_ended(self, event: ev.AttemptEnded, rows: list[PictureRow]) -> None:
        bar = self.bars.end(event.attempt)
        if bar is None:
            return
        self._ended.append(bar)
        self._learn(bar)
        self._hosts[bar.tried.host] = None
        ending = bar.tried.ending or event.ending
        rows.append(
            {
                "t": "end",
                "attempt": event.attempt,
                "run": bar.record.run,
                "at": bar.tried.ended_at,
                "ending": ending.kind,
                "overload": ending.overload or "",
                "detail": short(ending.detail, self._redact),
                "tokens_in": ending.tokens_in,
                "tokens_out": ending.tokens_out,
                "cost": ending.cost,
            }
        )

    def _on_width(self, event: ev.WidthMoved, rows: list[PictureRow]) -> None:
        row = width_row(event)
        self._widths.append(row)
        self._widths_total += 1
        self._hosts[event.host] = None
        rows.append({"t": "width", **row})

    def _on_read(self, event: ev.HostRead, rows: list[PictureRow]) -> None:
        row = self._gauges.read(event)
        if row is not None:
            rows.append({"t": "gauge", **row})

    def _on_submitted(self, event: ev.TasksSubmitted, rows: list[PictureRow]) -> None:
        self._runs[event.run] = None

    def _on_edited(self, event: ev.TaskEdited, rows: list[PictureRow]) -> None:
        run = self.book.runs.get(event.run)
        record = run.records.get(event.task.id) if run is not None else None
        if record is not None:
            self._edited.add(record.number)
            self._changed[record.number] = record

    def _on_hosts(self, event: ev.HostsConfigured, rows: list[PictureRow]) -> None:
        self._hosts.update(dict.fromkeys(self.book.hosts))

    def _on_host(
        self, event: ev.HostPaused | ev.HostResumed | ev.WidthSet | ev.WorkersMoved, rows: list[PictureRow]
    ) -> None:
        self._hosts[event.host] = None

    def _on_run(
        self, event: ev.RunOpened | ev.RunResumed | ev.RunDrained | ev.RunStopped | ev.RunNoted, rows: list[PictureRow]
    ) -> None:
        if event.run in self.book.runs:
            self._runs[event.run] = None

    def _learn(self, bar: Bar) -> None:
        tried, ending = bar.tried, bar.tried.ending
        if ending is None or tried.ended_at is None:
            return
        self._tokens["in"] += ending.tokens_in
        self._tokens["out"] += ending.tokens_out
        self._cost = total_cost((self._cost, ending.cost))
        if ending.kind is EndingKind.DONE:
            lane = (tried.host, bar.record.task.kind)
            took = self._durations.get(lane)
            if took is None:
                took = self._durations[lane] = deque(maxlen=DURATIONS_MAX)
            took.append(tried.ended_at - tried.started_at)

    # What is told of it

    def _task(self, record: Record, touched: dict[str, None]) -> PictureRow:
        touched[record.run] = None
        # With more tasks than a snapshot shows, the page may not know this one yet.
        is_new = record.number > self._last_number or record.number in self._edited
        if is_new:
            note_form(self._forms, record)
            self._kinds.setdefault(record.task.kind)
        whole = is_new or self.book.last_number > TASKS_MAX
        row = page_task(record, self._redact) if whole else state_row(record, self._redact)
        row["t"] = "task"
        return row

    def _tell_runs(self, touched: dict[str, None]) -> list[PictureRow]:
        rows: list[PictureRow] = []
        for name in {**touched, **self._runs}:
            run = self.book.runs[name]
            ended_at = run.ended_at
            whole = name in self._runs or self._told_ended_at.get(name, ended_at) != ended_at
            self._told_ended_at[name] = ended_at
            rows.append({"t": "run", **page_run(run, self._redact)} if whole else {"t": "counts", **counts_row(run)})
        self._runs.clear()
        return rows

    def _tell_hosts(self) -> list[PictureRow]:
        rows: list[PictureRow] = []
        for name, host in self.book.hosts.items():
            told = self._told_hosts.get(name)
            if told is None or name in self._hosts or (told["paused"] is None) != (host.paused is None):
                row = page_host(host, self.slowest_of, self._redact)
                if row != told:
                    self._told_hosts[name] = row
                    rows.append({"t": "host", **row})
        for name in [name for name in self._told_hosts if name not in self.book.hosts]:
            del self._told_hosts[name]
            rows.append({"t": "gone", "host": name})
        self._hosts.clear()
        return rows

    def _tell_waiting(self) -> list[PictureRow]:
        rows: list[PictureRow] = []
        waiting, since = self._waiting()
        moved = since.keys() != self._told_since.keys() or any(
            abs(at - self._told_since[run]) > AGE_STEP_S for run, at in since.items()
        )
        told = self._told["waiting"]
        if waiting["ready"] != told["ready"] or waiting["ceiling"] != told["ceiling"] or moved:
            self._told["waiting"], self._told_since = waiting, since
            rows.append({"t": "waiting", **waiting})
        if self._tokens != self._told["tokens"] or self._cost != self._told["cost"]:
            self._told["tokens"], self._told["cost"] = dict(self._tokens), self._cost
            rows.append({"t": "cost", "tokens": self._told["tokens"], "cost": self._cost})
        if rows:
            self._stood.append({"at": self.book.at, **waiting})
            if len(self._stood) > STOOD_MAX:
                del self._stood[::2]  # the further back, the coarser
        return rows

    def _waiting(self) -> tuple[PictureRow, dict[str, float]]:
        """Who waits, and run by run since when."""
        at, ready = self.book.at, 0
        ages: dict[str, float] = {}
        for run in self.book.runs.values():
            if run.unfinished and not run.draining:
                ready += run.counts[TaskState.READY]
                if run.counts[TaskState.READY]:
                    ages[run.name] = self._age(run, at)
        told = {"oldest_s": max(ages.values(), default=0.0), "runs": ages, "ready": ready}
        return {**told, "ceiling": self._ceiling.look(self.book)}, {run: at - age for run, age in ages.items()}


def concerns(row: PictureRow, run: str) -> bool:
    """Whether this change matters to a page that shows one run. What uses hosts matters to all; tasks do not."""
    return bool(row["t"] != "task" or row["run"] == run)
