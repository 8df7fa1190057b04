"""Reads the journal from any machine, whether it is led or not."""

from collections.abc import Iterator

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import stored_rows
from manyhands.engine.store.contract.journal import UnreadableRequest
from manyhands.engine.store.postgres import postgres_schema
from manyhands.engine.store.postgres.database_link import Connection, DatabaseLink
from manyhands.engine.store.postgres.database_place import DatabasePlace, place_of

#: How many rows are fetched at once. This avoids long transactions and takes little memory.
ROWS_AT_ONCE = 64


class PostgresReader:
    def __init__(self, link: DatabaseLink) -> None:
        self._link = link
        self._place: DatabasePlace = link.place

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        last = self._link.run(lambda connection, _: last_of(connection, self._place))

        def fetch(done: int, last: int) -> list[stored_rows.StoredRow]:
            return self._link.run(
                lambda connection, _: connection.execute(
                    "SELECT seq, crc, body FROM batch WHERE seq > %s AND seq <= %s ORDER BY seq LIMIT %s",
                    (done, last, ROWS_AT_ONCE),
                    binary=True,
                ).fetchall()
            )

        return stored_rows.events_of(fetch, after, last, self._place)

    def latest_snapshot(self) -> tuple[int, bytes] | None:
        return self._link.run(self._latest_snapshot)

    def _latest_snapshot(self, connection: Connection, _again: bool) -> tuple[int, bytes] | None:
        newest_first = connection.execute("SELECT DISTINCT seq FROM snapshot ORDER BY seq DESC").fetchall()
        for (seq,) in newest_first:
            parts = connection.execute(
                "SELECT parts, crc, body FROM snapshot WHERE seq = %s ORDER BY part", (seq,), binary=True
            ).fetchall()
            data = stored_rows.snapshot_of(seq, parts)
            if data is not None:
                return seq, data
        return None

    def requests(self) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
        waiting = self._link.run(
            lambda connection, _: connection.execute(
                "SELECT id, crc, body FROM request ORDER BY id", binary=True
            ).fetchall()
        )
        return stored_rows.requests_of(waiting, self._place)

    def close(self) -> None:
        self._link.close()


def last_of(connection: Connection, place: DatabasePlace) -> int:
    row = connection.execute(
        "SELECT coalesce((SELECT max(seq) FROM batch), 0), coalesce((SELECT max(seq) FROM snapshot), 0)"
    ).fetchone()
    assert row is not None
    last, kept = row
    if last < kept:
        raise stored_rows.damaged(place, f"event {last + 1}", f"events up to {kept} are missing")
    return int(last)


def open_link(place: DatabasePlace, settings: str = "", patience_s: float = 0.0) -> DatabaseLink:
    """Connects to a journal that exists, in tables of this version."""
    link = DatabaseLink(place, settings, patience_s)
    try:
        link.run(lambda connection, _: postgres_schema.check_current(connection, place))
    except BaseException:
        link.close()
        raise
    return link


def open_reader(url: str) -> PostgresReader:
    return PostgresReader(open_link(place_of(url), "SET default_transaction_read_only = on"))


def exists(url: str) -> bool:
    place = place_of(url)
    link = DatabaseLink(place)
    try:
        return link.run(lambda connection, _: postgres_schema.version(connection, place) > 0)
    finally:
        link.close()
