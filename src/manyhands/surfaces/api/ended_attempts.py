"""Which attempts ended in a batch of events, with the endings that the scheduler decided on."""

from collections.abc import Sequence

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted
from manyhands.core.state import Running


class EndedAttempts:
    """The book forgets an attempt when it ends. Code that counts endings needs it a little longer."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._running: dict[int, Running] = dict(book.running)

    def __len__(self) -> int:
        return len(self._running)

    def ended(self, batch: Sequence[AnyEvent]) -> list[Running]:
        """Call this with every batch, once it is on disk. An attempt whose end is told twice ends once."""
        ended: list[Running] = []
        for event in batch:
            if isinstance(event, AttemptStarted) and event.attempt in self._book.running:
                # Not there: it began and ended between two looks at a journal that another process writes.
                self._running[event.attempt] = self._book.running[event.attempt]
            elif isinstance(event, AttemptEnded) and event.attempt in self._running:
                ended.append(self._running.pop(event.attempt))
        return ended
