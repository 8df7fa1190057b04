"""A row in a PostgreSQL table for each result, once however often it is sent: the key is the table's primary key."""

import asyncio
import re
from typing import Any

from manyhands.engine.delivery.sinks.letters import Letter
from manyhands.engine.delivery.sinks.sink import SinkError
from manyhands.errors import Unavailable, UsageError
from manyhands.install_hints import install_hint

_ANSWER_S = 30.0
_ESCAPES = re.compile(r"\\\\|\\u0000")


def _without_nul(body: str) -> str:
    """PostgreSQL's text has no NUL, and its JSON no escape for one either."""
    return _ESCAPES.sub(lambda found: found[0] if found[0] == r"\\" else "", body)


class PostgresSink:
    def __init__(self, url: str, table: str) -> None:
        try:
            import psycopg.conninfo
            from psycopg import sql
        except ImportError:
            hint = install_hint("postgres")
            raise Unavailable("a postgres sink needs the `psycopg` package", hint) from None
        try:
            psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # which would repeat it, password and all
            hint = "postgresql://user:password@host/database"
            raise UsageError(
                f"the URL of the postgres sink with table `{table}` is not a PostgreSQL URL", hint
            ) from None
        self._url = url
        self._psycopg = psycopg
        self._lock = asyncio.Lock()
        self._connection: Any = None
        name = sql.Identifier(*table.split("."))
        self._make = sql.SQL(
            "CREATE TABLE IF NOT EXISTS {} (key text PRIMARY KEY, app text NOT NULL, run text NOT NULL, "
            "task text NOT NULL, letter jsonb NOT NULL, delivered_at timestamptz NOT NULL DEFAULT now())"
        ).format(name)
        self._insert = sql.SQL(
            "INSERT INTO {} (key, app, run, task, letter) VALUES (%s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING"
        ).format(name)

    async def send(self, letter: Letter) -> None:
        body = _without_nul(letter.encoded().decode())
        async with self._lock:
            try:
                async with asyncio.timeout(_ANSWER_S):
                    connection = await self._connected()
                    await connection.execute(self._insert, (letter.key, letter.app, letter.run, letter.task, body))
            except TimeoutError:
                await self._drop()
                raise SinkError(f"no answer within {_ANSWER_S:g} s") from None
            except self._psycopg.Error as problem:
                await self._drop()
                permanent = isinstance(problem, self._psycopg.DataError)
                raise SinkError(str(problem).splitlines()[0] if str(problem) else "lost", permanent=permanent) from None

    async def _connected(self) -> Any:
        if self._connection is None:
            self._connection = await self._psycopg.AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=10
            )
            await self._connection.execute(self._make)
        return self._connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def close(self) -> None:
        await self._drop()
