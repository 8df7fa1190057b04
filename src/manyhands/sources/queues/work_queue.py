"""What a queue must offer. tests/sources/queues holds every queue to it.

An entry belongs to one holder at a time. It stays with a holder that is heard of, and goes to another one after the
lease. An entry that was settled never comes back.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from manyhands.errors import Unavailable

#: How many times in a lease it is renewed.
RENEWALS = 4


class QueueDown(Unavailable):
    """The queue does not answer now."""


class QueueEntry(Struct, frozen=True):
    id: str  # in the queue
    content: Mapping[str, Any]  # as the queue has it


class Settlement(Struct, frozen=True):
    """How the task of an entry ended."""

    entry: str
    state: str  # done, failed, cancelled or skipped
    detail: str = ""
    result: str = ""


class WorkQueue(Protocol):
    where: str  # for people and for finding its run again; never with a password
    name: str

    def hold(self, holder: str, room: int) -> Sequence[QueueEntry]:
        """All entries that the holder has, after it took up to `room` more. Renews its leases."""

    def renew(self, holder: str, entries: Iterable[str]) -> set[str]:
        """Those of the entries that the holder still has. Their leases are renewed."""

    def settle(self, holder: str, settlements: Sequence[Settlement]) -> set[str]:
        """Acknowledge the entries. Returns those that were the holder's."""

    def refuse(self, holder: str, entry: str, why: str) -> None:
        """Put an entry aside that nobody can work on."""

    def give_back(self, holder: str, entries: Iterable[str]) -> None:
        """Others may take these entries at once."""

    def close(self) -> None: ...
