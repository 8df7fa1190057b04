"""Which attempts ended in a batch, with their endings as the scheduler decided to call them."""

from collections.abc import Sequence

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, AttemptEnded, AttemptStarted
from manyhands.core.state import Running


class EndedAttempts:
    """The book lets go of an attempt when it ends; those who count endings need it a moment longer."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._running: dict[int, Running] = dict(book.running)

    def __len__(self) -> int:
        return len(self._running)

    def ended(self, batch: Sequence[AnyEvent]) -> list[Running]:
        """To be called with every batch, once it is on disk. One that is told of twice ends once."""
        ended: list[Running] = []
        for event in batch:
            if isinstance(event, AttemptStarted):
                self._running[event.attempt] = self._book.running[event.attempt]
            elif isinstance(event, AttemptEnded) and event.attempt in self._running:
                ended.append(self._running.pop(event.attempt))
        return ended
