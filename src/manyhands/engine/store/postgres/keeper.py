"""Renews the leader's lease, and learns by NOTIFY when someone has left a request."""

import contextlib
import select
import socket
import threading
from collections.abc import Callable

import psycopg

from manyhands.engine.store.postgres import leader_lease
from manyhands.engine.store.postgres.database_link import Connection, connect
from manyhands.engine.store.postgres.database_place import DatabasePlace
from manyhands.errors import LeaseLost

_RETRY_S = 0.1


class Keeper:
    """Two threads with their own connection, so that a long append or a slow event loop does not lose the lead."""

    def __init__(self, place: DatabasePlace, token: int, until: float) -> None:
        self.token = token
        self.until = until  # seconds since boot: nobody else can lead before
        self.lost: LeaseLost | None = None
        self._place = place
        self._kept: Callable[[float], None] = lambda until: None
        self._cut_off: Callable[[], None] = lambda: None
        self._woken, self._waker = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._closing, self._closer = socket.socketpair()
        self._closed = threading.Event()
        self._threads = [
            threading.Thread(target=self._keep, name="lease", daemon=True),
            threading.Thread(target=self._watch, name="lease-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        self._kept, self._cut_off = kept, cut_off
        kept(self.until)

    def is_cut_off(self) -> bool:
        return leader_lease.boot_time_s() >= self.until

    def fileno(self) -> int:
        return self._woken.fileno()

    def wake(self) -> None:
        # If the socket is full, one more wake-up makes no difference.
        with contextlib.suppress(BlockingIOError):
            self._waker.send(b"!")

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._woken.recv(1)

    def renewed(self, until: float) -> None:
        self.until = max(self.until, until)
        self._kept(self.until)

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            self._closer.close()
            for thread in self._threads:
                thread.join()
            for end in (self._closing, self._woken, self._waker):
                end.close()

    def _keep(self) -> None:
        while not self._closed.is_set() and self.lost is None:
            try:
                with connect(self._place, "SET synchronous_commit = off") as connection:
                    connection.execute(f"LISTEN {channel(self._place)}".encode())
                    self.wake()  # requests that came while nobody listened
                    self._serve(connection)
            except psycopg.Error:
                self._closed.wait(_RETRY_S)
            except LeaseLost as lost:
                self.lost = lost
                self.wake()
                self._cut_off()

    def _serve(self, connection: Connection) -> None:
        has_bell = False
        renew_at = 0.0
        newest = 0
        while not self._closed.is_set():
            if leader_lease.boot_time_s() >= renew_at:
                renew_at = leader_lease.boot_time_s() + leader_lease.RENEW_S
                self.renewed(leader_lease.renew(connection, self._place, self.token))
                has_bell = has_bell or leader_lease.hold_bell(connection, self._place)
                was, newest = newest, _newest_request(connection)
                if newest > was:  # whoever left it may have died before the NOTIFY
                    self.wake()
            # After the queries: a NOTIFY that came with their answers is held here, and nothing else would report it.
            for _ in connection.notifies(timeout=0):
                self.wake()
            wait_s = max(0.0, renew_at - leader_lease.boot_time_s())
            select.select([connection.fileno(), self._closing.fileno()], [], [], wait_s)

    def _watch(self) -> None:
        told = 0.0  # of which deadline
        while not self._closed.is_set():
            left_s = self.until - leader_lease.boot_time_s()
            if left_s <= 0 and told != self.until:
                told = self.until
                self._cut_off()
            self._closed.wait(left_s if left_s > 0 else _RETRY_S)


def _newest_request(connection: Connection) -> int:
    row = connection.execute("SELECT coalesce(max(id), 0) FROM request").fetchone()
    assert row is not None
    return int(row[0])


def channel(place: DatabasePlace) -> str:
    """A name that needs no quoting: projects are small letters, digits and `_`."""
    return f"manyhands_{place.project}"[:63]
