"""Requests from any machine. One is in the database when `ask` returns, and the leader has been told."""

import secrets

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec
from manyhands.engine.store.postgres import leader_lease
from manyhands.engine.store.postgres.database_link import Connection, DatabaseLink
from manyhands.engine.store.postgres.database_place import place_of
from manyhands.engine.store.postgres.keeper import channel
from manyhands.engine.store.postgres.postgres_reader import open_link

#: The asker is a person at a terminal, or a program that can ask again.
PATIENCE_S = 10.0


class PostgresRequests:
    def __init__(self, link: DatabaseLink) -> None:
        self._link = link
        self._channel = channel(link.place)
        self.heard = False  # was a leader told of the last request?

    def ask(self, event: AnyEvent) -> int:
        body = codec.encode([event])
        # When a request is sent again after a lost connection, its key says that it is the same one.
        key, crc = secrets.randbits(63), codec.checksum(body, 0)
        return self._link.run(lambda connection, _: self._ask(connection, key, crc, body))

    def _ask(self, connection: Connection, key: int, crc: int, body: bytes) -> int:
        # The NOTIFY has its own transaction: commits with a NOTIFY wait for each other, and each waits for its disk.
        with connection.pipeline() as pipeline:
            inserted = connection.execute(
                "INSERT INTO request (key, crc, body) VALUES (%s, %s, %b)"
                " ON CONFLICT (key) DO UPDATE SET crc = excluded.crc RETURNING id",
                (key, crc, body),
            )
            pipeline.sync()
            connection.execute("SELECT pg_notify(%s, '')", (self._channel,))
            led = connection.execute("SELECT expires_at > clock_timestamp() FROM lease")
            pipeline.sync()
            row, leads = inserted.fetchone(), led.fetchone()
        self.heard = leads is not None and leads[0] is True
        assert row is not None, "an insert gives its id"
        return int(row[0])

    def close(self) -> None:
        self._link.close()


def open_requests(url: str) -> PostgresRequests:
    return PostgresRequests(open_link(place_of(url), patience_s=PATIENCE_S))


def is_led(url: str) -> bool:
    """Does a dispatcher lead this journal?"""
    link = open_link(place_of(url))
    try:
        return link.run(lambda connection, _: leader_lease.standing(connection).left_s > 0)
    finally:
        link.close()
