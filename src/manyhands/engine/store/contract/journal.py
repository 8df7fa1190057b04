"""What every store promises. tests/engine/store/test_store_contract.py holds each store to it.

- When `append` returns, its events survive `kill -9` and, with durability "power", a power cut. A batch is written
  as a whole or not at all, whatever its size.
- Events are numbered 1, 2, 3 … in the order they were appended.
- One dispatcher holds the journal at a time. Anyone may read it, and anyone may leave a request for the dispatcher
  that runs now or next. A request stays until the append that answers it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from manyhands.core.events import AnyEvent

#: What an acknowledged event survives: the death of the process, or also the loss of power.
Durability = Literal["crash", "power"]


class UnreadableRequest(Struct, frozen=True):
    """Something among the requests that was left there whole, and is not a request."""

    why: str


class JournalReader(Protocol):
    """Reads the journal from any process, whether a dispatcher is running or not."""

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """The events numbered above `after`, up to the last one that exists when the read begins."""

    def latest_snapshot(self) -> tuple[int, bytes] | None:
        """The newest sound snapshot and the number of the last event in it."""

    def requests(self) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
        """The requests that wait for an answer, oldest first, with their ids."""

    def close(self) -> None: ...


class Requests(Protocol):
    """Leaves requests for the dispatcher from another process, without waiting for it."""

    def ask(self, event: AnyEvent) -> int:
        """Leave a request, wake the dispatcher if there is one, and return the request's id. It is on disk by then."""

    def close(self) -> None: ...


class Journal(JournalReader, Protocol):
    """The journal of the one dispatcher. It may be called from any thread, but by one at a time."""

    last: int  # the number of the last event; 0 for none
    identity: str  # marks the processes of its attempts: the same after a restart, different for a copy
    is_shared: bool  # may a dispatcher on another machine take it over?
    strangers_s: float  # how long processes that such a dispatcher started may still live

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        """Write the events and delete the answered requests, in one transaction. Returns the last event's number."""

    def save_snapshot(self, seq: int, data: bytes) -> None:
        """Save the state after event `seq`. Only one older snapshot is kept."""

    def wake_fileno(self) -> int:
        """A descriptor that becomes readable when a request comes in. Then call `clear_wake`, and after it `requests`.

        Requests that were left while no dispatcher ran wake nobody, so call `requests` once after opening.
        """

    def clear_wake(self) -> None: ...

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        """Calls `kept`, from any thread, with the time (in seconds since boot) until which nobody else can lead.

        Calls `cut_off` when that time has passed. Attempts in flight must then stop, although this dispatcher may still
        lead afterwards. A journal that cannot be taken over calls neither.
        """

    def give_up(self) -> None:
        """This dispatcher is closing, so stop waiting for a store that is away."""
