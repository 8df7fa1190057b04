"""The leader's journal. Every append is one transaction that has the lease's token, or it writes nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress

import psycopg
from psycopg import errors

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import stored_rows
from manyhands.engine.store.contract.journal import UnreadableRequest
from manyhands.engine.store.postgres import leader_lease, postgres_schema
from manyhands.engine.store.postgres.database_link import Connection, connect
from manyhands.engine.store.postgres.database_place import DatabasePlace, place_of
from manyhands.engine.store.postgres.keeper import Keeper
from manyhands.engine.store.postgres.postgres_reader import PostgresReader, last_of, open_link

#: The most that one statement carries. A longer append is several statements in one transaction.
STATEMENT_BYTES = 8 << 20

# Until this is committed, FOR KEY SHARE blocks a change of the token but not a renewal of the lease. Without the token
# there is no row to join with, and nothing is written.
_HELD = "SELECT token FROM lease WHERE token = %s FOR KEY SHARE"
_APPEND = f"""
WITH held AS ({_HELD}),
written AS (INSERT INTO batch SELECT one.* FROM held, unnest(%s::int8[], %s::int8[], %b::bytea[]) AS one),
struck AS (DELETE FROM request USING held WHERE id = ANY(%s::int8[]))
SELECT count(*) FROM held
"""
# A leader that stops in the middle of a long append must not block the next leader.
_SETTINGS = f"SET synchronous_commit = on; SET idle_in_transaction_session_timeout = '{leader_lease.LEASE_S}s'"


class PostgresJournal(PostgresReader):
    is_shared = True

    def __init__(self, place: DatabasePlace, undo: ExitStack) -> None:
        token, until, self.strangers_s = leader_lease.take(place)
        undo.callback(_release, place, token)
        # The leader waits for the server, however long it is away. Nothing is acknowledged meanwhile.
        link = open_link(place, _SETTINGS, patience_s=float("inf"))
        undo.callback(link.close)
        super().__init__(link)
        self.last, self.identity = link.run(lambda connection, _: (last_of(connection, place), _identity(connection)))
        self._keeper = Keeper(place, token, until)
        undo.callback(self._keeper.close)
        self._closing = undo.pop_all()

    @property
    def token(self) -> int:
        return self._keeper.token

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        written = list(stored_rows.rows_of(events, self.last))
        self._link.run(lambda connection, again: self._append(connection, written, list(answered), again))
        self.last = written[-1][0] if written else self.last
        if self._keeper.is_cut_off():
            # This dispatcher was stopped or cut off meanwhile. Only the leader may act on this append.
            until = self._link.run(lambda connection, _: leader_lease.renew(connection, self._place, self.token))
            self._keeper.renewed(until)
        return self.last

    def _append(
        self, connection: Connection, written: list[stored_rows.StoredRow], answered: list[int], again: bool
    ) -> None:
        if again and written and _is_there(connection, written[-1]):
            return  # it was committed; only the answer was lost
        statements = list(_statements(written))
        try:
            with connection.transaction() if len(statements) > 1 else nullcontext():
                for statement in statements:
                    struck = answered if statement is statements[-1] else []
                    columns = [list(column) for column in zip(*statement, strict=True)] or [[], [], []]
                    row = connection.execute(_APPEND, (self.token, *columns, struck), prepare=True).fetchone()
                    if row is None or row[0] == 0:
                        raise leader_lease.lost(connection, self._place)
        except errors.UniqueViolation:
            # The server was still working on the first try when its connection broke.
            if not (again and _is_there(connection, written[-1])):
                raise

    def save_snapshot(self, seq: int, data: bytes) -> None:
        def save(connection: Connection, _again: bool) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                if cursor.execute(_HELD, (self.token,)).fetchone() is None:
                    raise leader_lease.lost(connection, self._place)
                cursor.execute("DELETE FROM snapshot WHERE seq = %s", (seq,))
                for part in stored_rows.snapshot_parts(seq, data):
                    cursor.execute("INSERT INTO snapshot VALUES (%s, %s, %s, %s, %b)", part)
                cursor.execute(
                    "DELETE FROM snapshot WHERE seq NOT IN"
                    " (SELECT DISTINCT seq FROM snapshot ORDER BY seq DESC LIMIT 2)"
                )

        self._link.run(save)

    def requests(self) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
        if self._keeper.lost is not None:  # noticed while there was nothing to append
            raise self._keeper.lost
        return super().requests()

    def wake_fileno(self) -> int:
        return self._keeper.fileno()

    def clear_wake(self) -> None:
        self._keeper.clear()

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        self._keeper.watch(kept, cut_off)

    def give_up(self) -> None:
        self._link.give_up()

    def close(self) -> None:
        self._closing.close()


def open_journal(url: str) -> PostgresJournal:
    """Leads the journal in the project's schema until it is closed or silent for too long. Creates it if needed.

    Its durability is that of the server: an acknowledged append survives whatever the server's commits survive.
    """
    place = place_of(url)
    postgres_schema.prepare(place)
    with ExitStack() as undo:
        return PostgresJournal(place, undo)


def prepare(url: str) -> None:
    """Create the tables of a journal without leading it."""
    postgres_schema.prepare(place_of(url))


def _statements(written: list[stored_rows.StoredRow]) -> Iterator[list[stored_rows.StoredRow]]:
    """The rows in pieces of bounded size. One empty piece if there are no rows."""
    piece: list[stored_rows.StoredRow] = []
    size = 0
    for row in written:
        if size > STATEMENT_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(row)
        size += len(row[2])
    yield piece


def _is_there(connection: Connection, row: stored_rows.StoredRow) -> bool:
    found = connection.execute("SELECT crc FROM batch WHERE seq = %s", (row[0],)).fetchone()
    return found is not None and found[0] == row[1]


def _identity(connection: Connection) -> str:
    row = connection.execute("SELECT identity FROM journal").fetchone()
    assert row is not None, "its row is made with the table"
    return str(row[0])[:16]


def _release(place: DatabasePlace, token: int) -> None:
    # If the server is away, the lease expires by itself.
    with suppress(psycopg.Error), connect(place) as connection:
        leader_lease.release(connection, token)
