"""The live picture of a run on a terminal: it is redrawn in place, and what went wrong stays above it."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.text import Text

from manyhands.core.events import AnyEvent, TaskEdited, TasksSubmitted
from manyhands.core.state import Running
from manyhands.core.values.task import form_of
from manyhands.engine.dispatcher import Dispatcher
from manyhands.surfaces.api.picture.idle import Forms, forms_of
from manyhands.surfaces.cli.happenings import Happened, Happenings, Tone
from manyhands.surfaces.cli.live_picture import LiveSight, draw, drawn_event, final_lanes
from manyhands.surfaces.cli.time_left import FinishRate, expected_s
from manyhands.surfaces.verbs.attempt_output import output_path
from manyhands.surfaces.verbs.task_report import last_lines

REFRESHES_PER_S = 8
#: Drawing may take at most this share of the dispatcher's time. The slower it is, the less often it happens.
DRAWING_SHARE = 0.02
#: A picture older than this is no longer live.
STALE_S = 1.0
#: What the attempts print is looked at this often, and of no more attempts than a screen shows.
LOOK_EVERY_S = 0.5
LOOKED_AT_MAX = 40
#: More bad endings than this in a second are counted instead of named.
NAMED_PER_S = 5


class LiveView:
    """Draws only what the core already has, so that a million tasks cost no more than ten."""

    def __init__(self, dispatcher: Dispatcher, run: str, directory: Path, redact: Callable[[str], str]) -> None:
        self._dispatcher = dispatcher
        self._run = run
        self._directory = directory
        self._redact = redact
        self._happenings = Happenings(dispatcher.book, run)
        self._latest: deque[Happened] = deque(maxlen=20)
        self._bad: list[Happened] = []  # to be printed above the picture
        self._named: deque[float] = deque(maxlen=NAMED_PER_S)
        self._forms: Forms = forms_of(dispatcher.book)
        self._said: dict[int, str] = {}  # attempt → the last line it printed
        self._looked_at = -LOOK_EVERY_S
        self._finished = FinishRate()
        self._live = RichLive(
            Text("opening …"), console=Console(stderr=True), auto_refresh=False, vertical_overflow="crop"
        )
        self._live.start(refresh=True)
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh())

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if isinstance(event, TasksSubmitted | TaskEdited):
                for task in event.tasks if isinstance(event, TasksSubmitted) else (event.task,):
                    self._forms.setdefault((event.run, task.kind), set()).add(form_of(task))
        for one in self._happenings.read(batch):
            if not one.is_of_lane:  # the picture has the lanes
                self._latest.append(one)
            if one.tone is Tone.BAD:
                self._bad.append(one)

    async def _refresh(self) -> None:
        while True:
            began = time.thread_time()  # CPU time: other processes must not slow the drawing down
            self._print_bad()
            self._live.update(self._picture(), refresh=True)
            drawing_s = time.thread_time() - began
            await asyncio.sleep(min(STALE_S, max(1 / REFRESHES_PER_S, drawing_s / DRAWING_SHARE)))

    def stop(self) -> None:
        """Leave the final lanes on the screen. The totals follow in the report."""
        self._dispatcher.recorded.remove(self.recorded)
        self._refreshing.cancel()
        self._print_bad()
        self._live.update(final_lanes(self._dispatcher.book), refresh=True)
        self._live.stop()
        self._live.console.print()

    def _print_bad(self) -> None:
        """Name the attempts that ended badly, above the picture, where they stay."""
        run = self._dispatcher.book.runs.get(self._run)
        bad, self._bad = self._bad, []
        if run is None or not bad:
            return
        now = time.monotonic()
        unnamed = 0
        for one in bad:
            if len(self._named) == NAMED_PER_S and now - self._named[0] < 1.0:
                unnamed += 1
                continue
            self._named.append(now)
            self._live.console.print(drawn_event(run, one), no_wrap=True, overflow="ellipsis", crop=True)
        if unnamed:
            self._live.console.print(Text(f"          and {unnamed:,} more that did not succeed", "red"))

    def _picture(self) -> Group | Text:
        book, now = self._dispatcher.book, self._dispatcher.clock.now()
        run = book.runs.get(self._run)
        if run is None or not run.records:
            return Text("opening …")
        shown = sorted(book.running.values(), key=lambda one: one.started_at)
        self._look(shown[:LOOKED_AT_MAX])
        sight = LiveSight(
            book=book,
            run=run,
            now=now,
            running=shown,
            said=self._said,
            latest=self._latest,
            forms=self._forms,
            rate=self._finished.rate(now, len(run.records) - run.unfinished),
            left_s=None if run.draining else expected_s(run, book.hosts.values(), now),
        )
        return draw(sight, *self._live.console.size)

    def _look(self, shown: Sequence[Running]) -> None:
        now = time.monotonic()
        if now < self._looked_at + LOOK_EVERY_S:
            return
        self._looked_at = now
        self._said = {one.attempt: self._last_line(one) for one in shown}

    def _last_line(self, one: Running) -> str:
        record = one.record
        number = len(record.history or ())
        text = self._redact(last_lines(output_path(self._directory, record.run, record.task.id, number)))
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
