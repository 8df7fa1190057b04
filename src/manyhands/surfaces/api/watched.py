"""What the page and the API look at: a live dispatcher, or a store on disk that is followed from outside."""

from collections.abc import Callable, Sequence
from typing import Protocol

from manyhands.core.book import Book
from manyhands.core.events import AnyEvent, Input
from manyhands.engine.clock import Clock


class Watched(Protocol):
    @property
    def book(self) -> Book: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def recorded(self) -> list[Callable[[Sequence[AnyEvent]], None]]:
        """Called with every batch once it is on disk."""

    @property
    def commit_s(self) -> float:
        """How long it took to write the latest batch."""

    @property
    def last(self) -> int:
        """The number of the last event on disk."""

    @property
    def is_alive(self) -> bool:
        """Is a dispatcher at work?"""

    async def submit(self, *events: Input) -> None: ...
