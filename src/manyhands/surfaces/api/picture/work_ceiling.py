"""The most attempts that what is left could keep at work at once, given needs and claims: more width is of no use."""

from manyhands.core.book import Book
from manyhands.core.values.task import TERMINAL
from manyhands.sources.plans.ceiling import ceiling_of

#: With more tasks left than these the ceiling is rarely what binds, and costs more than a look at it is worth.
TASKS_MAX = 150
#: It falls as work is done, and need not be followed to the moment.
EVERY_S = 1.0


class WorkCeiling:
    def __init__(self) -> None:
        self._left: tuple[tuple[str, int], ...] = ()
        self._looked_at = float("-inf")
        self._found: int | None = None

    def look(self, book: Book) -> int | None:
        """None where it is not known, or nothing is left."""
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
