"""A run from its journal as a recording: the first snapshot, then every frame, as someone would have seen it live.

Idle causes and hot claims need everything that is ready in its order, which a replay does not keep; they are looked at
every so often, the more seldom the more tasks there are.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from manyhands.core.events import AnyEvent, HostsConfigured, RunOpened, RunResumed
from manyhands.core.scheduler import Scheduler, joined
from manyhands.surfaces.api.picture.picture import Picture, concerns
from manyhands.surfaces.api.picture.picture_rows import PictureRow, Redact

#: Events within this many seconds are one frame.
FRAME_S = 0.02
#: Putting all that is ready in order costs about as much as so many tasks cost an event.
TASKS_PER_EVENT = 8
#: With fewer tasks it is done more often than it costs: with a hundred at every frame.
TASKS_FEW = 2_500
#: How many events are read, and how many changes recorded. A recording that ends there says `truncated`.
EVENTS_MAX = 5_000_000
CHANGES_MAX = 2_000_000
#: Changes that show the run itself at work.
_AT_WORK = frozenset({"task", "start", "end"})


#: A recording begins with its run and sees all of it.
_NO_PAST: PictureRow = {"idle_past": [], "waiting_past": [], "gauges": [], "looks_from": None, "knows_past": True}


class Recording:
    """Call `snapshot`, then iterate over `frames`. After that, `truncated` says whether something is missing."""

    def __init__(self, journal: Iterable[tuple[int, AnyEvent]], run: str, redact: Redact = str) -> None:
        self.run = run
        self.truncated = False
        self._rest = joined(event for _, event in journal)
        self._journal: Iterator[AnyEvent] = self._rest  # with what was looked at and not taken in front
        self._scheduler = Scheduler()
        self._picture = Picture(self._scheduler.book, redact)
        self._read = 0
        self._changes = 0
        self._batch: list[AnyEvent] = []
        self._frames: list[PictureRow] = []
        self._is_wanted = True  # by the dispatcher of the moment: each new one begins with its hosts

    def snapshot(self) -> PictureRow | None:
        """The state when the run was opened; None if the journal does not have the run."""
        self._scheduler.replay_each(self._until_opened())
        if self.run not in self._scheduler.book.runs:
            return None
        self._picture.changes(self._batch)
        self._batch = []
        first = self._picture.snapshot(self.run)
        first["seq"] = self._picture.seq
        return {**first, "command": False, "widths": [], "widths_total": 0, **_NO_PAST}

    def frames(self) -> Iterator[PictureRow]:
        while not self.truncated:
            records = sum(len(run.records) for run in self._scheduler.book.runs.values() if run.unfinished)
            before = self._read
            self._scheduler.replay_each(self._step(records * min(records, TASKS_FEW) // (TASKS_FEW * TASKS_PER_EVENT)))
            self._keep(stands=True)
            yield from self._frames
            self._frames = []
            if self._read == before:
                return

    def _until_opened(self) -> Iterator[AnyEvent]:
        for event in islice(self._journal, EVENTS_MAX):
            self._read += 1
            self._batch.append(event)
            yield event
            if isinstance(event, RunOpened) and event.run == self.run:
                return
            if len(self._batch) >= 10_000:
                self._picture.changes(self._batch)
                self._batch = []

    def _step(self, events: int) -> Iterator[AnyEvent]:
        """At least so many events and whole frames of them; the scheduler has taken one in when it asks for the next.

        Between an end and the start that follows from it a slot is not idle, so a step does not end there.
        """
        enough = self._read + events
        for event in self._journal:
            if self._batch and event.at > self._batch[0].at + FRAME_S:
                if self._read >= enough:
                    self._journal = chain([event], self._rest)
                    return
                self._keep()
            if isinstance(event, HostsConfigured):
                self._is_wanted = False
            elif isinstance(event, RunResumed) and event.run == self.run:
                self._is_wanted = True
            self._batch.append(event)
            self._read += 1
            yield event
            if self._read >= EVENTS_MAX or self._changes >= CHANGES_MAX:
                self.truncated = True
                return

    def _keep(self, stands: bool = False) -> None:
        run = self._scheduler.book.runs[self.run]
        was_over = run.ended_at is not None
        at = self._batch[-1].at if self._batch else self._scheduler.book.at
        rows = self._picture.changes(self._batch)
        self._batch = []
        if stands:
            rows += self._picture.standing()
        rows = [row for row in rows if concerns(row, self.run)]
        # After its end, and under a dispatcher that came for other runs, changes of the hosts belong to those.
        if (self._is_wanted and not was_over and rows) or any(self._is_at_work(row) for row in rows):
            self._changes += len(rows)
            self._frames.append({"seq": self._picture.seq, "at": at, "changes": rows})

    def _is_at_work(self, row: PictureRow) -> bool:
        return row["t"] in _AT_WORK and row.get("run") == self.run
