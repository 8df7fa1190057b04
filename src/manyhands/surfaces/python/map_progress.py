"""The progress of a map where someone looks: a bar on a terminal, a line in a notebook, and silence elsewhere."""

import os
import sys
import time
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

from manyhands.core.events import AnyEvent
from manyhands.core.state import Run
from manyhands.core.values.task import TERMINAL, TaskState
from manyhands.engine.dispatcher import Dispatcher

DRAWN_EVERY_S = 0.1


class ProgressDisplay(Protocol):
    def show(self, done: int, total: int, text: str) -> None: ...

    def close(self) -> None: ...


class MapProgress:
    """Follows a run by what is on disk, and draws it at most ten times a second."""

    def __init__(self, dispatcher: Dispatcher, run: str, display: ProgressDisplay) -> None:
        self._dispatcher = dispatcher
        self._run = run
        self._display = display
        self._drawn_at = 0.0
        dispatcher.recorded.append(self.recorded)

    def recorded(self, batch: Sequence[AnyEvent]) -> None:
        if time.monotonic() - self._drawn_at >= DRAWN_EVERY_S:
            self._draw()

    def stop(self) -> None:
        self._dispatcher.recorded.remove(self.recorded)
        self._draw()
        self._display.close()

    def _draw(self) -> None:
        self._drawn_at = time.monotonic()
        run = self._dispatcher.book.runs.get(self._run)
        if run is not None:
            ended = sum(run.counts[state] for state in TERMINAL)
            self._display.show(ended, len(run.records), self._text(run))

    def _text(self, run: Run) -> str:
        widths = [
            f"width {host.width}" for host in self._dispatcher.book.hosts.values() if run.name in _runs_on(host.running)
        ]
        parts = [f"{run.in_flight} in flight" if run.in_flight else "", *widths[:1]]
        if run.counts[TaskState.BACKOFF]:
            parts.append(f"{run.counts[TaskState.BACKOFF]} to be tried again")
        if run.counts[TaskState.FAILED]:
            parts.append(f"{run.counts[TaskState.FAILED]} failed")
        return " · ".join(part for part in parts if part)


def _runs_on(running: Any) -> set[str]:
    return {one.record.run for one in running.values()}


def display_for(label: str) -> ProgressDisplay | None:
    """Where a person looks now; None if nobody does."""
    if _is_notebook():
        return NotebookDisplay(label)
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        return TerminalDisplay(label)
    return None


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class TerminalDisplay:
    def __init__(self, label: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[text]}"))
        self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), auto_refresh=False)
        self._task = self._bar.add_task(label, total=None, text="")
        self._bar.start()

    def show(self, done: int, total: int, text: str) -> None:
        self._bar.update(self._task, completed=done, total=total, text=text, refresh=True)

    def close(self) -> None:
        self._bar.stop()


class NotebookDisplay:
    """A line that is drawn over. It needs no widgets."""

    def __init__(self, label: str) -> None:
        from IPython.display import HTML, display

        self._label = label
        self._html = HTML
        self._handle = display(HTML(escape(label)), display_id=True)

    def show(self, done: int, total: int, text: str) -> None:
        bar = f'<progress max="{total}" value="{done}"></progress>'
        self._handle.update(self._html(f"{escape(self._label)} {bar} {done:,} of {total:,} {escape(text)}"))

    def close(self) -> None:
        pass
