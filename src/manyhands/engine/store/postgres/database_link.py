"""A connection that reconnects. The caller says how to repeat what was under way when it broke."""

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from manyhands.engine.store.postgres import postgres_faults
from manyhands.engine.store.postgres.database_place import DatabasePlace

_log = logging.getLogger(__name__)

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

_FIRST_WAIT_S = 0.05
_LONGEST_WAIT_S = 1.0
_SAY_AFTER_S = 1.0


def connect(place: DatabasePlace, settings: str = "") -> Connection:
    connection = psycopg.connect(place.conninfo, autocommit=True)
    try:
        connection.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(place.project)))
        if settings:
            connection.execute(settings.encode())
    except BaseException:
        connection.close()
        raise
    return connection


class DatabaseLink:
    """One connection, for one thread at a time."""

    def __init__(self, place: DatabasePlace, settings: str = "", patience_s: float = 0.0) -> None:
        self.place = place
        self._settings = settings
        self._patience_s = patience_s  # how long to wait for a server that is away
        self._given_up = threading.Event()
        self._connection: Connection | None = None
        with postgres_faults.named(place):
            self._connection = connect(place, settings)

    def run(self, work: Callable[[Connection, bool], T]) -> T:
        """Do the work. If the connection breaks, repeat it on a new one with True: the first try may have been done."""
        again = False
        wait_s, broken_at, said = _FIRST_WAIT_S, 0.0, False
        while True:
            connection = self._connection
            try:
                if connection is None or connection.closed:
                    connection = None
                    connection = self._connection = connect(self.place, self._settings)
                done = work(connection, again)
                if said:
                    _log.warning("the store `%s` is back", self.place)
                return done
            except psycopg.Error as error:
                broken_at = broken_at or time.monotonic()
                too_late = time.monotonic() - broken_at > self._patience_s or self._given_up.is_set()
                if too_late or not postgres_faults.is_passing(error, connection):
                    raise postgres_faults.ours(error, self.place) from error
                self._drop(connection)
                again = True
                if not said and time.monotonic() - broken_at > _SAY_AFTER_S:
                    said = True
                    _log.warning("the store `%s` is away, waiting for it: %s", self.place, " ".join(str(error).split()))
            self._given_up.wait(wait_s * random.uniform(0.5, 1.0))
            wait_s = min(_LONGEST_WAIT_S, wait_s * 2)

    def give_up(self) -> None:
        """Stop waiting for a server that is away, now and later."""
        self._given_up.set()

    def _drop(self, connection: Connection | None) -> None:
        if connection is not None:
            connection.close()
        self._connection = None

    def close(self) -> None:
        self.give_up()
        self._drop(self._connection)
