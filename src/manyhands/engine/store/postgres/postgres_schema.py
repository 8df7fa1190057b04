"""Creates the journal's tables or brings them up to date, one migration after the other."""

from collections.abc import Mapping
from importlib import resources

from psycopg import errors, sql

from manyhands.engine.store.postgres import postgres_faults
from manyhands.engine.store.postgres.database_link import Connection, connect
from manyhands.engine.store.postgres.database_place import DatabasePlace
from manyhands.errors import StoreBroken, UsageError
from manyhands.install_hints import upgrade_hint


def _files() -> dict[int, str]:
    steps = resources.files(__package__) / "migrations"
    return {
        int(file.name.split("_")[0]): file.read_text("utf-8") for file in steps.iterdir() if file.name.endswith(".sql")
    }


MIGRATIONS = _files()
VERSION = max(MIGRATIONS)


def prepare(place: DatabasePlace) -> None:
    """Create the schema and its tables, or bring those of an older version up to date."""
    with postgres_faults.named(place), connect(place) as connection:
        if version(connection, place) < VERSION:
            migrate(connection, place, MIGRATIONS)


def migrate(connection: Connection, place: DatabasePlace, migrations: Mapping[int, str]) -> None:
    with connection.transaction():
        # If two begin at once, the second finds the work done.
        connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"manyhands {place.project} tables",)
        )
        if not _has_schema(connection, place):
            _make_schema(connection, place)
        found = version(connection, place)
        for number in sorted(migrations):
            if number > found:
                connection.execute(migrations[number].encode())
                connection.execute("UPDATE journal SET version = %s", (number,))


def check_current(connection: Connection, place: DatabasePlace) -> None:
    found = version(connection, place)
    if found == 0:
        raise UsageError(f"there is no journal in `{place}`", "`manyhands run PLAN` begins one")
    if found < VERSION:
        raise StoreBroken(
            f"the journal in `{place}` has schema {found}, of an older manyhands; this one reads schema {VERSION}",
            "`manyhands run` brings it up to date",
        )


def version(connection: Connection, place: DatabasePlace) -> int:
    """0: there is no journal yet."""
    row = connection.execute("SELECT to_regclass(%s)", (f"{place.project}.journal",)).fetchone()
    if row is None or row[0] is None:
        _refuse_strangers(connection, place)
        return 0
    try:
        row = connection.execute("SELECT version FROM journal").fetchone()
    except errors.UndefinedColumn:
        row = None
    if row is None:
        raise _not_ours(place)
    if row[0] > VERSION:
        raise StoreBroken(
            f"the journal in `{place}` has schema {row[0]}; this manyhands knows no schema above {VERSION}",
            f"a newer manyhands wrote it: upgrade with `{upgrade_hint()}`",
        )
    return int(row[0])


def _refuse_strangers(connection: Connection, place: DatabasePlace) -> None:
    found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = %s", (place.project,)).fetchone()
    if found is not None and found[0]:
        raise _not_ours(place)


def _not_ours(place: DatabasePlace) -> StoreBroken:
    return StoreBroken(
        f"schema `{place.project}` of `{place}` has tables, but not those of a manyhands journal",
        "name another with `?project=` in the URL",
    )


def _has_schema(connection: Connection, place: DatabasePlace) -> bool:
    return connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (place.project,)).fetchone() is not None


def _make_schema(connection: Connection, place: DatabasePlace) -> None:
    try:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place.project)))
    except errors.InsufficientPrivilege as error:
        row = connection.info.user
        raise StoreBroken(
            f"store `{place}`: role `{row}` may not create the schema `{place.project}`",
            f"ask an administrator to run: CREATE SCHEMA {place.project} AUTHORIZATION {row}",
        ) from error
