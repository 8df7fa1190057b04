"""What landing must know about a run: the places of its tasks, and whether it still wants their work."""

from collections.abc import Callable

from manyhands.core.book import Book
from manyhands.core.events import CancelAsked, Input
from manyhands.core.values.provenance import CausedBy
from manyhands.core.values.task import TaskState


class RunFacts:
    def __init__(self, book: Book, tell: Callable[[Input], None], now: Callable[[], float]) -> None:
        self._book = book
        self._tell = tell
        self._now = now

    def place_of(self, run: str, task: str) -> int:
        """The task's place in its plan, comparable with tasks of any run."""
        return self._book.runs[run].records[task].number

    def first_of_this_work(self, run: str, task: str) -> int:
        """The number of the first attempt at the task as it is now. Attempts before it were at an earlier version."""
        return self._book.runs[run].records[task].told_from + 1

    def why_not(self, run: str, attempt: int) -> str:
        """Why the attempt's work is no longer wanted; "" if it is wanted.

        With `fail_fast`, attempts that ran when a task failed finish but do not land. Tasks that a person starts
        again afterwards do land.
        """
        found, running = self._book.runs[run], self._book.running.get(attempt)
        if running is None or not found.fail_fast or not found.counts[TaskState.FAILED]:
            return ""
        for record in found.records.values():
            last = record.history[-1] if record.history else None
            if record.state is TaskState.FAILED and last and (last.ended_at or 0.0) >= running.started_at:
                return f"fail_fast: {record.task.id} failed"
        return ""

    def cancel(self, run: str, task: str, why: str) -> None:
        """Stop the attempt, so that its task counts as cancelled."""
        self._tell(CancelAsked(self._now(), run, task, why, CausedBy.RUN))
