"""Opens the store at a place: a directory holds SQLite, and a URL names a PostgreSQL database."""

from pathlib import Path
from typing import Protocol

from manyhands.engine.store.contract.journal import Durability, Journal, JournalReader, Requests
from manyhands.engine.store.contract.samples import SeriesSample
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.engine.store.sqlite.wake import wake

#: A directory, or the URL of a database.
Where = Path | str


class Asking(Requests, Protocol):
    heard: bool  # did a dispatcher hear of the last request?


class SeriesStore(Protocol):
    def keep(self, sample: SeriesSample) -> None: ...

    def read(self, since: float = 0.0) -> list[SeriesSample]: ...

    def close(self) -> None: ...


class StandBy(Protocol):
    def wait(self) -> bool:
        """Can the lead be taken now? Returns within a few seconds."""

    def close(self) -> None: ...


def open_journal(where: Where, durability: Durability = "power") -> Journal:
    """The journal there, created if there is none. It is held until it is closed or the process ends."""
    if isinstance(where, Path):
        return sqlite_store.open_journal(where, durability)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_journal import open_journal

    return open_journal(where)


def open_reader(where: Where) -> JournalReader:
    """Opens the journal for reading. It takes no lock and changes nothing."""
    if isinstance(where, Path):
        return sqlite_store.open_reader(where)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_reader import open_reader

    return open_reader(where)


def open_requests(where: Where, durability: Durability = "power") -> Asking:
    """Opens the place for requests. It works whether a dispatcher runs or not."""
    if isinstance(where, Path):
        return sqlite_store.open_requests(where, durability)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_requests import open_requests

    return open_requests(where)


def open_series(where: Where) -> SeriesStore:
    """The samples over time, which are kept beside the journal."""
    if isinstance(where, Path):
        return sqlite_store.open_series(where)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_series import open_series

    return open_series(where)


def open_stand_by(where: str) -> StandBy:
    """A way to wait until the journal there can be led."""
    _check_driver()
    from manyhands.engine.store.postgres.leader_lease import open_stand_by

    return open_stand_by(where)


def make(where: Where, durability: Durability = "power") -> None:
    """Creates an empty journal if there is none yet."""
    if isinstance(where, Path):
        if not exists(where):
            sqlite_store.open_journal(where, durability).close()
        return
    _check_driver()
    from manyhands.engine.store.postgres.postgres_journal import prepare

    prepare(where)


def exists(where: Where) -> bool:
    if isinstance(where, Path):
        return sqlite_store.exists(where)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_reader import exists

    return exists(where)


def is_dispatching(where: Where) -> bool:
    """Does a dispatcher work on this store?"""
    if isinstance(where, Path):
        return wake(where)
    _check_driver()
    from manyhands.engine.store.postgres.postgres_requests import is_led

    return is_led(where)


def printable(where: Where) -> str:
    """The place as it may be printed: without a password."""
    if isinstance(where, Path):
        return str(where)
    from manyhands.engine.store.postgres.database_place import place_of

    return str(place_of(where))


def _check_driver() -> None:
    from manyhands.engine.store.postgres.database_place import driver

    driver()
