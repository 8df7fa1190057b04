"""The mark beside the journal: never ahead of it without cause, and never behind what was acknowledged."""

import logging
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import RunDrained, Woke
from manyhands.engine.store.contract import codec
from manyhands.engine.store.sqlite import high_water_mark, sqlite_schema, sqlite_store
from manyhands.engine.store.sqlite.high_water_mark import HighWaterMark, Kept, MarkFile
from manyhands.errors import StoreBroken

FILES = ("journal.db", "journal.db-wal", "journal.db-mark")


def mark_of(directory: Path, kept: Kept = Kept.EVENTS) -> HighWaterMark:
    with closing(MarkFile(directory / "journal.db-mark")) as marks:
        return marks.read(kept)


def copied(source: Path, target: Path, *, without: str = "") -> Path:
    target.mkdir()
    for name in FILES:
        if (source / name).exists() and name != without:
            shutil.copyfile(source / name, target / name)
    return target


def test_what_was_acknowledged_is_marked(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        for count in range(1, 6):
            assert journal.append([Woke(at=1.0)]) == mark_of(tmp_path).number == count
        with closing(sqlite_store.open_requests(tmp_path)) as asking:
            assert asking.ask(RunDrained(at=0.0, run="r")) == mark_of(tmp_path, Kept.REQUESTS).number == 1


def test_a_journal_that_is_ahead_of_its_mark_is_sound(tmp_path: Path) -> None:
    """A crash between a commit and its mark: nobody was told of that commit."""
    with closing(sqlite_store.open_journal(tmp_path / "live")) as journal:
        journal.append([Woke(at=1.0)])
        early = (tmp_path / "live" / "journal.db-mark").read_bytes()
        journal.append([Woke(at=2.0)])
        crashed = copied(tmp_path / "live", tmp_path / "crashed")
        (crashed / "journal.db-mark").write_bytes(early)
    assert mark_of(crashed).number == 1
    with closing(sqlite_store.open_journal(crashed)) as journal:
        assert journal.last == 2
        assert mark_of(crashed).number == 2


def test_a_torn_mark_leaves_the_one_before(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        for at in range(4):
            journal.append([Woke(at=float(at))])
    file = tmp_path / "journal.db-mark"
    whole = bytearray(file.read_bytes())
    for start in (0, 512):
        torn = bytearray(whole)
        torn[start + 20 : start + 40] = bytes(20)
        file.write_bytes(torn)
        assert mark_of(tmp_path).number in (3, 4)
        sqlite_store.open_journal(tmp_path).close()
    file.write_bytes(bytes(2048))
    with pytest.raises(StoreBroken, match=f"the mark `{file}` is damaged"):
        sqlite_store.open_journal(tmp_path)


def test_at_the_crash_grade_a_power_cut_may_take_the_end_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite_store.open_journal(tmp_path / "live", "crash")) as journal:
        journal.append([Woke(at=1.0)])
    with closing(sqlite_store.open_journal(tmp_path / "live", "crash")) as journal:
        journal.append([Woke(at=2.0), Woke(at=3.0)])
        assert mark_of(tmp_path / "live")[:3:2] == (3, 1)  # written, synced
        cut = copied(tmp_path / "live", tmp_path / "cut", without="journal.db-wal")
    with pytest.raises(StoreBroken, match="it ends with event 1, and event 3 was recorded"):
        sqlite_store.open_journal(cut)  # on the same boot there was no power cut
    monkeypatch.setattr("manyhands.engine.store.sqlite.journal_checks.this_boot", lambda: "another")
    monkeypatch.setattr("manyhands.engine.store.sqlite.high_water_mark.this_boot", lambda: "another")
    with (
        caplog.at_level(logging.WARNING),
        closing(sqlite_store.open_journal(cut, "crash")) as journal,
    ):
        assert journal.last == 1
        assert "a power cut took events 2 to 3" in caplog.text
        assert mark_of(cut).number == 1


def test_at_the_power_grade_no_power_cut_excuses_a_missing_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite_store.open_journal(tmp_path / "live")) as journal:
        journal.append([Woke(at=1.0)])
        cut = copied(tmp_path / "live", tmp_path / "cut", without="journal.db-wal")
    monkeypatch.setattr("manyhands.engine.store.sqlite.journal_checks.this_boot", lambda: "another")
    with pytest.raises(StoreBroken, match="it ends with event 0, and event 1 was recorded"):
        sqlite_store.open_journal(cut)


def test_a_lost_request_is_missed(tmp_path: Path) -> None:
    sqlite_store.open_journal(tmp_path / "live").close()
    with closing(sqlite_store.open_requests(tmp_path / "live")) as asking:
        asking.ask(RunDrained(at=0.0, run="r"))
        cut = copied(tmp_path / "live", tmp_path / "cut", without="journal.db-wal")
    with pytest.raises(StoreBroken, match=r"requests up to 1 are missing; .* copied without it"):
        sqlite_store.open_journal(cut)


def test_at_rest_the_main_file_has_everything(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path / "live", "crash")) as journal:
        journal.append([Woke(at=1.0)])
        deadline = time.monotonic() + 60
        while mark_of(tmp_path / "live").synced < 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        alone = copied(tmp_path / "live", tmp_path / "alone", without="journal.db-wal")
    with closing(sqlite_store.open_journal(alone)) as journal:
        assert journal.last == 1


def test_a_store_of_an_older_version_gets_a_chain_and_a_mark(tmp_path: Path) -> None:
    before = {version: sql for version, sql in sqlite_schema.MIGRATIONS.items() if version < 3}
    old = tmp_path / "old"
    old.mkdir()
    with closing(sqlite3.connect(old / "journal.db", isolation_level=None)) as connection:
        sqlite_schema.migrate(connection, 0, before)
        for number, at in ((1, 1.0), (2, 2.0)):
            body = codec.encode([Woke(at=at)])
            connection.execute("INSERT INTO batch VALUES (?, ?, ?)", (number, codec.checksum(body, number), body))
    with closing(sqlite_store.open_journal(old)) as journal:
        assert journal.append([Woke(at=3.0)]) == 3
    assert mark_of(old).number == 3
    with closing(sqlite_store.open_journal(old)) as journal:
        assert [event.at for _, event in journal.read()] == [1.0, 2.0, 3.0]
        assert [event.at for _, event in journal.read(after=1)] == [2.0, 3.0]
    (old / "journal.db-mark").unlink()
    with pytest.raises(StoreBroken, match="is missing, so that nobody can tell"):
        sqlite_store.open_journal(old)


def test_a_boot_has_a_name_here() -> None:
    assert len(high_water_mark.this_boot()) == 36
