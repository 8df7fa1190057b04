"""What a verb needs to know. A live dispatcher and a store on disk both provide it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from manyhands.core.book import Book
from manyhands.core.values.host import Family, Host, Route


class BookView(Protocol):
    @property
    def book(self) -> Book: ...

    @property
    def book_if_any(self) -> Book | None:
        """None if nothing has been run or asked for in this store yet."""

    @property
    def now(self) -> float: ...

    @property
    def hosts(self) -> Sequence[Host]:
        """The hosts of the config."""

    @property
    def families(self) -> Sequence[Family]: ...

    @property
    def routes(self) -> Sequence[Route]: ...

    @property
    def directory(self) -> Path:
        """Where attempts leave their output."""

    @property
    def is_dispatching(self) -> bool: ...
