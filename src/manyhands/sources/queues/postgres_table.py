"""A table of a PostgreSQL database as a queue: rows are taken with a lease, and keep how their tasks ended."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from manyhands.errors import Unavailable, UsageError
from manyhands.sources.queues.work_queue import RENEWALS, QueueDown, QueueEntry, Settlement

T = TypeVar("T")

#: docs/backlogs.md shows it too. Columns of your own may stand beside these.
TABLE = """CREATE TABLE IF NOT EXISTS {} (
    id text PRIMARY KEY,
    task jsonb NOT NULL,
    priority smallint NOT NULL DEFAULT 2,
    state text NOT NULL DEFAULT 'ready',
    holder text,
    lease_until timestamptz,
    detail text,
    result text,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
)"""
_HELD = "SELECT id, task FROM {} WHERE holder = %s AND state = 'taken' ORDER BY priority, created_at, id"
_RENEW = """UPDATE {} SET lease_until = now() + make_interval(secs => %s)
    WHERE holder = %s AND state = 'taken' AND (%s::text[] IS NULL OR id = ANY(%s)) RETURNING id"""
_TAKE = """UPDATE {0} SET state = 'taken', holder = %s, lease_until = now() + make_interval(secs => %s)
    WHERE id IN (
        SELECT id FROM {0} WHERE state = 'ready' OR (state = 'taken' AND lease_until < now())
        ORDER BY priority, created_at, id LIMIT %s FOR UPDATE SKIP LOCKED
    )"""
_SETTLE = """UPDATE {} SET state = %s, detail = %s, result = %s, ended_at = now(), lease_until = NULL
    WHERE id = %s AND holder = %s AND state = 'taken' RETURNING id"""
_GIVE_BACK = """UPDATE {} SET state = 'ready', holder = NULL, lease_until = NULL
    WHERE holder = %s AND state = 'taken' AND id = ANY(%s)"""


class PostgresTable:
    def __init__(self, url: str, table: str, lease_s: float) -> None:
        try:
            import psycopg
            import psycopg.conninfo
            from psycopg import sql
        except ImportError:
            raise Unavailable(
                "a postgres backlog needs the `psycopg` package", "pip install 'manyhands[postgres]'"
            ) from None
        try:
            parts = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # which would repeat it, password and all
            raise UsageError(
                f"the URL of the backlog with table `{table}` is not a PostgreSQL URL",
                "postgresql://user:password@host/database",
            ) from None
        self.name = table
        port = f":{parts['port']}" if parts.get("port", "5432") != "5432" else ""
        self.where = f"postgresql://{parts.get('host', '')}{port}/{parts.get('dbname', '')}#{table}"
        self._url = url
        self._lease_s = lease_s
        self._psycopg = psycopg
        self._connection: Any = None
        self._has_table = False
        self._renewed_at = -math.inf
        name = sql.Identifier(*table.split("."))
        self._sql = {text: sql.SQL(text).format(name) for text in (TABLE, _HELD, _RENEW, _TAKE, _SETTLE, _GIVE_BACK)}

    def hold(self, holder: str, room: int) -> Sequence[QueueEntry]:
        def ask(do: Callable[..., Any]) -> Sequence[QueueEntry]:
            if time.monotonic() - self._renewed_at > self._lease_s / RENEWALS:
                do(_RENEW, (self._lease_s, holder, None, None))
                self._renewed_at = time.monotonic()
            if room > 0:
                do(_TAKE, (holder, self._lease_s, room))
            return [QueueEntry(id, {"task": task}) for id, task in do(_HELD, (holder,)).fetchall()]

        return self._asked(ask)

    def renew(self, holder: str, entries: Iterable[str]) -> set[str]:
        wanted = list(entries)
        return self._asked(lambda do: {id for (id,) in do(_RENEW, (self._lease_s, holder, wanted, wanted)).fetchall()})

    def settle(self, holder: str, settlements: Sequence[Settlement]) -> set[str]:
        def ask(do: Callable[..., Any]) -> set[str]:
            ours: set[str] = set()
            for one in settlements:
                row = (one.state, _without_nul(one.detail), _without_nul(one.result), one.entry, holder)
                ours |= {id for (id,) in do(_SETTLE, row).fetchall()}
            return ours

        return self._asked(ask)

    def refuse(self, holder: str, entry: str, why: str) -> None:
        self.settle(holder, [Settlement(entry, "refused", why)])

    def give_back(self, holder: str, entries: Iterable[str]) -> None:
        self._asked(lambda do: do(_GIVE_BACK, (holder, list(entries))))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _asked(self, ask: Callable[[Callable[..., Any]], T]) -> T:
        """In one transaction, so that nothing is half taken."""
        try:
            if self._connection is None:
                self._connection = self._psycopg.connect(self._url, connect_timeout=10)
            with self._connection.transaction():
                if not self._has_table:
                    self._connection.execute(self._sql[TABLE])
                answer = ask(lambda text, values: self._connection.execute(self._sql[text], values))
            self._has_table = True
            return answer
        except self._psycopg.Error as error:
            self.close()
            self._connection, self._renewed_at = None, -math.inf
            said = str(error).splitlines()[0] if str(error) else "the connection was lost"
            raise QueueDown(f"table `{self.name}`: {said}", "it is asked again in a few seconds") from None


def _without_nul(text: str) -> str:
    return text.replace("\0", "")
