"""A store in memory for tests and simulations. It keeps the same contract as the durable stores."""

import contextlib
import os
import socket
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec
from manyhands.engine.store.contract.journal import UnreadableRequest
from manyhands.errors import StoreBusy


class MemoryStore:
    """Stands for the directory of a durable store: one journal at a time, any number of readers and requests."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, bytes]] = []  # the number of its last event, its events encoded
        self.snapshots: dict[int, bytes] = {}
        self.waiting: dict[int, bytes] = {}
        self.asked = 0  # how many requests there ever were
        self.dispatcher: MemoryJournal | None = None

    def open_journal(self) -> "MemoryJournal":
        journal = MemoryJournal(self)
        self.lead(journal)
        return journal

    def lead(self, journal: "MemoryJournal") -> None:
        if self.dispatcher is not None:
            journal.close()
            raise StoreBusy(
                f"the journal in memory is in use by process {os.getpid()}", "close the other dispatcher first"
            )
        self.dispatcher = journal

    def open_reader(self) -> "MemoryReader":
        return MemoryReader(self)

    def open_requests(self) -> "MemoryRequests":
        return MemoryRequests(self)


class MemoryReader:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        rows = self._store.rows
        for seq, body in rows[bisect_right(rows, after, key=itemgetter(0)) :]:
            events = codec.decode(body, codec.checksum(body, seq), seq)
            for number, event in enumerate(events, seq - len(events) + 1):
                if number > after:
                    yield number, event

    def latest_snapshot(self) -> tuple[int, bytes] | None:
        return max(self._store.snapshots.items(), default=None)

    def requests(self) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
        return [
            (number, codec.decode(body, codec.checksum(body, 0), 0)[0]) for number, body in self._store.waiting.items()
        ]

    def close(self) -> None:
        pass


class MemoryJournal(MemoryReader):
    identity = "memory"
    is_shared = False
    strangers_s = 0.0

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.last = store.rows[-1][0] if store.rows else 0
        self._woken, self._waker = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        last = self.last
        added = []
        for row in codec.cut(events):
            last += len(row)
            added.append((last, codec.encode(row)))
        self._store.rows.extend(added)
        for number in answered:
            self._store.waiting.pop(number, None)
        self.last = last
        return last

    def save_snapshot(self, seq: int, data: bytes) -> None:
        snapshots = self._store.snapshots
        snapshots[seq] = data
        for old in sorted(snapshots)[:-2]:
            del snapshots[old]

    def wake_fileno(self) -> int:
        return self._woken.fileno()

    def wake(self) -> None:
        # If the socket is full, the dispatcher will wake anyway.
        with contextlib.suppress(BlockingIOError):
            self._waker.send(b"!")

    def clear_wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._woken.recv(1)

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        pass

    def give_up(self) -> None:
        pass

    def close(self) -> None:
        if self._store.dispatcher is self:
            self._store.dispatcher = None
        self._woken.close()
        self._waker.close()


class MemoryRequests:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def ask(self, event: AnyEvent) -> int:
        body = codec.encode([event])
        self._store.asked += 1
        self._store.waiting[self._store.asked] = body
        if self._store.dispatcher is not None:
            self._store.dispatcher.wake()
        return self._store.asked

    def close(self) -> None:
        pass
