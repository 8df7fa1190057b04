"""The most attempts that the remaining tasks could run at once, given needs and claims. More width is of no use."""

from manyhands.core.book import Book
from manyhands.core.values.task import TERMINAL
from manyhands.sources.plans.ceiling import ceiling_of

#: With more tasks left than this, the ceiling rarely binds and costs too much to compute.
TASKS_MAX = 150
#: It falls slowly as work is done, so it is computed only now and then.
EVERY_S = 1.0


class WorkCeiling:
    def __init__(self) -> None:
        self._left: tuple[tuple[str, int], ...] = ()
        self._looked_at = float("-inf")
        self._found: int | None = None

    def look(self, book: Book) -> int | None:
        """None if it is not known, or no tasks are left."""
        left = tuple((run.name, run.unfinished) for run in book.runs.values() if run.unfinished and not run.draining)
        if left == self._left or (left and book.at < self._looked_at + EVERY_S):
            return self._found
        self._left, self._looked_at = left, book.at
        self._found = self._ceiling(book) if 0 < sum(n for _, n in left) <= TASKS_MAX else None
        return self._found

    def _ceiling(self, book: Book) -> int:
        return sum(
            ceiling_of([one.task for one in book.runs[name].records.values() if one.state not in TERMINAL]).tasks
            for name, _ in self._left
        )
