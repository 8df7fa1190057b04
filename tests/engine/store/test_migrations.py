"""The journal's schema: one current form, a way to it from every older one, none back from a newer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import Woke
from manyhands.engine.store.sqlite import sqlite_schema, sqlite_store
from manyhands.errors import StoreBroken


def tables(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()


def version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def test_the_schema_is_what_the_migrations_lead_to() -> None:
    with closing(sqlite3.connect(":memory:")) as fresh, closing(sqlite3.connect(":memory:")) as migrated:
        sqlite_schema.prepare(fresh, Path("fresh"))
        sqlite_schema.migrate(migrated, 0, sqlite_schema.MIGRATIONS)
        assert tables(fresh) == tables(migrated)
        assert version(fresh) == version(migrated) == sqlite_schema.VERSION
    assert sorted(sqlite_schema.MIGRATIONS) == list(range(1, sqlite_schema.VERSION + 1))


def test_migrations_are_applied_in_order_and_only_those_that_are_new() -> None:
    steps = {
        3: "ALTER TABLE b RENAME TO c;",
        1: "CREATE TABLE a (x);",
        2: "ALTER TABLE a RENAME TO b; INSERT INTO b VALUES (2);",
    }
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        sqlite_schema.migrate(connection, 0, {1: steps[1]})
        sqlite_schema.migrate(connection, version(connection), steps)
        assert connection.execute("SELECT x FROM c").fetchall() == [(2,)]
        assert version(connection) == 3


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    steps = {1: "CREATE TABLE a (x);", 2: "INSERT INTO a VALUES (1); INSERT INTO nowhere VALUES (1);"}
    with closing(sqlite3.connect(tmp_path / "file", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            sqlite_schema.migrate(connection, 0, steps)
        assert version(connection) == 1
        assert connection.execute("SELECT count(*) FROM a").fetchone() == (0,)


def set_version(directory: Path, number: int) -> None:
    with closing(sqlite3.connect(directory / "journal.db")) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


@pytest.mark.parametrize("open_it", [sqlite_store.open_journal, sqlite_store.open_reader, sqlite_store.open_requests])
def test_a_journal_of_a_newer_version_is_refused_with_both_versions_and_left_as_it_is(tmp_path, open_it) -> None:
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        journal.append([Woke(at=1.0)])
    set_version(tmp_path, 99)
    with pytest.raises(StoreBroken, match=f"schema 99; .* above {sqlite_schema.VERSION}") as broken:
        open_it(tmp_path)
    assert "upgrade" in broken.value.hint
    set_version(tmp_path, sqlite_schema.VERSION)
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        assert [event.at for _, event in journal.read()] == [1.0]


def test_a_reader_leaves_the_migrating_to_a_dispatcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        journal.append([Woke(at=1.0)])
    later = sqlite_schema.VERSION + 1
    monkeypatch.setattr(sqlite_schema, "VERSION", later)
    monkeypatch.setattr(sqlite_schema, "MIGRATIONS", {**sqlite_schema.MIGRATIONS, later: "CREATE TABLE extra (x);"})
    with pytest.raises(StoreBroken, match=f"schema {later - 1}, of an older manyhands"):
        sqlite_store.open_reader(tmp_path)
    with closing(sqlite_store.open_journal(tmp_path)), closing(sqlite_store.open_reader(tmp_path)) as reader:
        assert [event.at for _, event in reader.read()] == [1.0]
