"""What every store promises; held for each by tests/engine/store/test_store_contract.py.

- When `append` returns, its events survive `kill -9` (and, at the grade "power", a power cut), all of them or
  none: a batch is never torn, whatever its size.
- Events are numbered 1, 2, 3 … in the order they were appended.
- One dispatcher holds the journal at a time; anyone may read it, and anyone may leave a request for whoever
  dispatches now or next. A request stays until the append that answers it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, Protocol

from manyhands.core.events import AnyEvent

#: What an acknowledged event survives: the death of the process, or also the loss of power.
Durability = Literal["crash", "power"]


class Reader(Protocol):
    """A look at the journal from any process, whether a dispatcher is at work or not."""

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        """The events numbered above `after`, up to the last one there is when the reading begins."""

    def latest_snapshot(self) -> tuple[int, bytes] | None:
        """The newest sound snapshot and the number of the last event in it."""

    def requests(self) -> list[tuple[int, AnyEvent]]:
        """The requests that wait for an answer, oldest first, with their ids."""

    def close(self) -> None: ...


class Requests(Protocol):
    """The way to ask a dispatcher for something without being it, and without waiting for it."""

    def ask(self, event: AnyEvent) -> int:
        """Leave a request, on disk when this returns, wake the dispatcher if there is one; the request's id."""

    def close(self) -> None: ...


class Journal(Reader, Protocol):
    """The one dispatcher's journal. May be called from any thread, by one at a time."""

    last: int  # the number of the last event; 0 for none
    identity: str  # carried by the processes of its attempts: the same after a restart, another for a copy
    is_shared: bool  # may a dispatcher on another machine take it over?
    strangers_s: float  # for how long what such a one has started may still live

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        """Write the events and strike off the answered requests, in one transaction; the last event's number."""

    def save_snapshot(self, seq: int, data: bytes) -> None:
        """Keep the state after event `seq`; of older snapshots only one is kept."""

    def wake_fileno(self) -> int:
        """Readable when a request came in: for the event loop to watch. Call `clear_wake`, then `requests`.

        Requests left while nobody dispatched wake no one: look at `requests` once after opening.
        """

    def clear_wake(self) -> None: ...

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        """Tell, from any thread, until when (in seconds since boot) nobody else can lead, and when that has passed.

        Then nothing in flight may go on, though the journal may yet be kept. A journal that cannot be taken over
        tells nothing.
        """

    def give_up(self) -> None:
        """This dispatcher is closing: wait no longer for a store that is away."""
