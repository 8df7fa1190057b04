"""One bar for each attempt, and the slot of its host it is drawn in: the smallest that was free when it started.

Slots depend only on the events and their order, so replaying a journal gives the same slots.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from manyhands.core.book import Book
from manyhands.core.state import AttemptRecord, Record

#: How many ended attempts are kept: as many as a page can draw.
KEPT_MAX = 50_000


class Bar(Struct):
    record: Record
    tried: AttemptRecord
    number: int  # its number among the attempts at the task
    slot: int


class BarSlots:
    """The slots of one host."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._made = 0

    def take(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._made += 1
        return self._made - 1

    def free(self, slot: int) -> None:
        heapq.heappush(self._free, slot)


class Bars:
    def __init__(self, book: Book) -> None:
        self.in_flight: dict[int, Bar] = {}
        self.ended: deque[Bar] = deque(maxlen=KEPT_MAX)
        self.total = 0
        self._slots: dict[str, BarSlots] = {}
        self._take_in(book)

    def start(self, record: Record, tried: AttemptRecord, number: int) -> Bar:
        slots = self._slots.get(tried.host)
        if slots is None:
            slots = self._slots[tried.host] = BarSlots()
        bar = self.in_flight[tried.attempt] = Bar(record, tried, number, slots.take())
        self.total += 1
        return bar

    def end(self, attempt: int) -> Bar | None:
        """None if its end was told before."""
        bar = self.in_flight.pop(attempt, None)
        if bar is not None:
            self._slots[bar.tried.host].free(bar.slot)
            self.ended.append(bar)
        return bar

    def __iter__(self) -> Iterator[Bar]:
        yield from self.ended
        yield from self.in_flight.values()

    def _take_in(self, book: Book) -> None:
        """The attempts of the newest runs in the order they started: what a dispatcher finds when it starts."""
        found: list[tuple[AttemptRecord, Record, int]] = []
        for run in reversed(book.runs.values()):
            for record in run.records.values():
                found += [(tried, record, number) for number, tried in enumerate(record.history or (), 1)]
            if len(found) >= KEPT_MAX:
                break
        for tried, record, number in _in_order(found):
            if number:
                self.start(record, tried, number)
            else:
                self.end(tried.attempt)


def _in_order(found: Iterable[tuple[AttemptRecord, Record, int]]) -> Iterator[tuple[AttemptRecord, Record, int]]:
    """Starts, and ends (number 0), in order. At the same moment a slot is freed before it is taken."""
    moments: list[tuple[float, int, int, AttemptRecord, Record, int]] = []
    for tried, record, number in found:
        moments.append((tried.started_at, 1, tried.attempt, tried, record, number))
        if tried.ended_at is not None:
            # An attempt that took no time at all still started before it ended.
            rank = 0 if tried.ended_at > tried.started_at else 2
            moments.append((tried.ended_at, rank, tried.attempt, tried, record, 0))
    moments.sort(key=lambda moment: moment[:3])
    for _, _, _, tried, record, number in moments:
        yield tried, record, number


def tried_of(record: Record, attempt: int) -> tuple[AttemptRecord, int]:
    """The attempt with that id, and its number among the attempts at the task. It is one of the last."""
    history = record.history or []
    for place in range(len(history) - 1, -1, -1):
        if history[place].attempt == attempt:
            return history[place], place + 1
    raise KeyError(attempt)
