"""Samples over time, on their own connection, so that writing them never waits for the journal."""

import msgspec

from manyhands.engine.store.contract.samples import SAMPLES_KEPT_S, SeriesSample, readable
from manyhands.engine.store.postgres.database_link import Connection, DatabaseLink
from manyhands.engine.store.postgres.database_place import place_of
from manyhands.engine.store.postgres.postgres_reader import open_link


class PostgresSeries:
    def __init__(self, link: DatabaseLink) -> None:
        self._link = link

    def keep(self, sample: SeriesSample) -> None:
        at_ms, body = round(sample.at * 1000), msgspec.msgpack.encode(sample)

        def keep(connection: Connection, _again: bool) -> None:
            connection.execute(
                "INSERT INTO sample VALUES (%s, %b) ON CONFLICT (at_ms) DO UPDATE SET body = excluded.body",
                (at_ms, body),
            )
            connection.execute("DELETE FROM sample WHERE at_ms < %s", (at_ms - round(SAMPLES_KEPT_S * 1000),))

        self._link.run(keep)

    def read(self, since: float = 0.0) -> list[SeriesSample]:
        """The samples from `since` on, oldest first."""
        found = self._link.run(
            lambda connection, _: connection.execute(
                "SELECT body FROM sample WHERE at_ms >= %s ORDER BY at_ms", (round(since * 1000),), binary=True
            ).fetchall()
        )
        return readable(body for (body,) in found)

    def close(self) -> None:
        self._link.close()


def open_series(url: str) -> PostgresSeries:
    return PostgresSeries(open_link(place_of(url), "SET synchronous_commit = off"))
