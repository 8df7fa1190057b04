"""Turns what PostgreSQL reports into errors that a person can act on. None of them has a secret of the URL."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from manyhands.engine.store.postgres.database_place import DatabasePlace
from manyhands.errors import ManyhandsError, StoreBroken

#: The server is starting, is stopping, or has no room for another connection. All of these pass.
_PASSING = {"57P01", "57P02", "57P03", "53300", "25006"}


@contextmanager
def named(place: DatabasePlace) -> Iterator[None]:
    """Raises faults of the database as our own errors, which name it."""
    try:
        yield
    except psycopg.Error as error:
        raise ours(error, place) from error


def is_passing(error: psycopg.Error, connection: "psycopg.Connection[object] | None") -> bool:
    """May the same work once the server is back?"""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return error.sqlstate in _PASSING
    return connection is None or connection.closed or error.sqlstate in _PASSING


def ours(error: psycopg.Error, place: DatabasePlace) -> ManyhandsError:
    said = " ".join(str(error).split())
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreBroken(
            f"the role of store `{place}` may not do this: {said}", "docs/postgres.md lists what each role is granted"
        )
    if isinstance(error, errors.DiskFull):
        return StoreBroken(
            f"no room to write the journal in `{place}`: the server's disk is full",
            "free some space and run the same command again; everything acknowledged is kept",
        )
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreBroken(
            f"cannot reach the store `{place}`: {said}",
            "is the server running, and are the address, user, password and TLS options right?",
        )
    return StoreBroken(f"the journal in `{place}` cannot be read or written: {said}", "everything acknowledged is kept")
