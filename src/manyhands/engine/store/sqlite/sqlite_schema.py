"""The journal's tables and their migrations. The file itself has the version, as SQLite's `user_version`.

A new field or kind of event also needs a new version, although its migration changes no table: an older manyhands must
refuse such a journal instead of reading it without the field.
"""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from manyhands.errors import StoreBroken
from manyhands.install_hints import upgrade_hint

#: Marks the file as ours ("many" in ASCII), so that no other database is taken for a journal.
APPLICATION_ID = 0x6D616E79


def _files() -> tuple[str, dict[int, str]]:
    here = Path(__file__).parent  # not `importlib.resources`, which loads archives and more
    steps = sorted((here / "migrations").glob("*.sql"))
    return (here / "schema.sql").read_text("utf-8"), {
        int(file.name.split("_")[0]): file.read_text("utf-8") for file in steps
    }


SCHEMA, MIGRATIONS = _files()
VERSION = max(MIGRATIONS)


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in a new file, or bring those of an older version up to date."""
    found = version_of(connection, path)
    if found == 0:
        _apply(connection, SCHEMA, VERSION)
    else:
        migrate(connection, found, MIGRATIONS)


def migrate(connection: sqlite3.Connection, found: int, migrations: Mapping[int, str]) -> None:
    for version in sorted(migrations):
        if version > found:
            _apply(connection, migrations[version], version)


def is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Do the tables exist? Those of an older version are refused, because only a dispatcher may change them."""
    found = version_of(connection, path)
    if 0 < found < VERSION:
        raise StoreBroken(
            f"the journal `{path}` has schema {found}, of an older manyhands; this one reads schema {VERSION}",
            "`manyhands run` brings it up to date",
        )
    return found == VERSION


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    mark: int = connection.execute("PRAGMA application_id").fetchone()[0]
    tables: int = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    ours, empty = mark == APPLICATION_ID and version > 0, version == 0 and tables == 0
    if not ours and not empty:
        raise StoreBroken(
            f"`{path}` is a database, but not a manyhands journal", "use another directory for the journal"
        )
    if version > VERSION:
        raise StoreBroken(
            f"the journal `{path}` has schema {version}; this manyhands knows no schema above {VERSION}",
            f"a newer manyhands wrote it: upgrade with `{upgrade_hint()}`",
        )
    return version


def _apply(connection: sqlite3.Connection, sql: str, version: int) -> None:
    # Both pragmas are part of the transaction: a crash leaves the old version or the new one.
    marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version};"
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{sql}\n{marks} COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.rollback()
        raise
