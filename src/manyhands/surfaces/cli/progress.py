"""Shows the progress of a run on stderr: a live picture on a terminal, plain lines elsewhere."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from manyhands.core.events import AnyEvent
from manyhands.core.state import Run
from manyhands.core.values.task import TERMINAL
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import Secrets
from manyhands.surfaces.cli.happenings import Happenings, after
from manyhands.surfaces.cli.printing import counted, say

#: Nobody reads more lines than this. Larger runs get a line with the totals every few seconds.
LINES_TASKS_MAX = 1000
LINE_EVERY_S = 5.0
#: Names are padded to the longest one so far, up to this length.
NAME_CHARACTERS_MAX = 40


class Watcher(Protocol):
    """Receives every batch of events after it is on disk, until it is stopped."""

    def recorded(self, batch: Sequence[AnyEvent]) -> None: ...

    def stop(self) -> None: ...


def watch(dispatcher: Dispatcher, run: str, directory: Path, secrets: Secrets | None = None) -> Watcher:
    """Must be called before the run is opened or resumed, so that it sees every event.

    `directory` is where attempts leave their output. The secrets are left out of what is shown of it.
    """
    watcher: Watcher
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from manyhands.surfaces.cli.live import LiveView

        watcher = LiveView(dispatcher, run, directory, secrets.redact if secrets is not None else str)
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
        self._happenings = Happenings(dispatcher.book, run)
        self._name_width = 0

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        run = self._dispatcher.book.runs.get(self._run)
        if run is None:
            return
        is_large = len(run.records) > LINES_TASKS_MAX
        if is_large:
            self._say_how_far(run)
        for one in self._happenings.holds() if is_large else self._happenings.read(batch):
            self._name_width = min(NAME_CHARACTERS_MAX, max(self._name_width, len(one.name)))
            line = f"{after(run, one.at):>8}  {one.what:<10} {one.name:<{self._name_width}}  {one.text}"
            say(line.rstrip())

    def _say_how_far(self, run: Run) -> None:
        now = self._dispatcher.clock.now()
        if now - self._said_at >= LINE_EVERY_S:
            self._said_at = now
            say(f"{after(run, now):>8}  {totals(run)}")

    def stop(self) -> None:
        self._dispatcher.recorded.remove(self.recorded)


def totals(run: Run) -> str:
    finished = sum(run.counts[state] for state in TERMINAL)
    return f"{finished} of {len(run.records)} · {counted({str(k): n for k, n in run.counts.items()})}"
