"""What can be read of a damaged store is said and saved; the damaged store stays as it is."""

import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import AnyEvent, AttemptStarted, RunDrained
from manyhands.engine.store.repairing import check, repair
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import Conflict, StoreBroken, StoreBusy, UsageError

BATCHES = 150


def event(batch: int) -> AnyEvent:
    return AttemptStarted(at=batch, attempt=batch, run="r", task=f"task-{batch}", host="local")


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store as `kill -9` leaves it: nearly everything is in the write-ahead log only."""
    with closing(sqlite_store.open_journal(tmp_path / "live")) as journal:
        for batch in range(BATCHES):
            journal.append([event(batch)])
        with closing(sqlite_store.open_requests(tmp_path / "live")) as asking:
            asking.ask(RunDrained(at=0.0, run="asked"))
        journal.save_snapshot(100, b"state")
        (tmp_path / "killed").mkdir()
        for name in ("journal.db", "journal.db-wal", "journal.db-mark"):
            shutil.copyfile(tmp_path / "live" / name, tmp_path / "killed" / name)
    return tmp_path / "killed"


def read(directory: Path) -> list[AnyEvent]:
    with closing(sqlite_store.open_reader(directory)) as reader:
        return [each for _, each in reader.read()]


def flip(file: Path, at: int) -> None:
    whole = bytearray(file.read_bytes())
    whole[at] ^= 4
    file.write_bytes(whole)


def test_a_sound_store_is_called_sound(killed: Path) -> None:
    assert check(killed) == (BATCHES, BATCHES, 1, ())


@pytest.mark.parametrize("seed", range(5))
def test_one_flipped_bit_in_the_log_costs_at_most_its_own_row(killed: Path, tmp_path: Path, seed: int) -> None:
    log = killed / "journal.db-wal"
    # In the first tenth: SQLite alone would read next to nothing of what follows.
    flip(log, random.Random(seed).randrange(32, log.stat().st_size // 10))
    damaged = log.read_bytes()
    found = check(killed)
    assert found.problems
    assert "the end of the journal" in found.problems[0]
    saved = repair(killed, tmp_path / "new")
    assert (saved.events, saved.recorded, saved.requests) == (BATCHES, BATCHES, 1)
    assert read(tmp_path / "new") == [event(batch) for batch in range(BATCHES)]
    with closing(sqlite_store.open_journal(tmp_path / "new")) as journal:
        assert journal.latest_snapshot() == (100, b"state")
        assert journal.append([event(BATCHES)]) == BATCHES + 1
    assert log.read_bytes() == damaged


def test_events_after_a_damaged_row_are_not_saved_because_they_cannot_follow(killed: Path, tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(killed)):
        pass  # all of it is in the main file now
    main = killed / "journal.db"
    flip(main, main.read_bytes().index(b"task-90"))
    assert check(killed)[:2] == (90, BATCHES)
    saved = repair(killed, tmp_path / "new")
    assert (saved.events, saved.recorded) == (90, BATCHES)
    assert read(tmp_path / "new") == [event(batch) for batch in range(90)]


def test_a_store_without_its_mark_can_be_saved_though_nobody_knows_whether_that_is_all(
    killed: Path, tmp_path: Path
) -> None:
    (killed / "journal.db-mark").unlink()
    assert repair(killed, tmp_path / "new") == (BATCHES, None, 1)
    assert check(tmp_path / "new").problems == ()


def test_a_repair_is_refused_where_something_could_be_lost(killed: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is the store to repair"):
        repair(killed, killed)
    with pytest.raises(UsageError, match="no journal in"):
        repair(tmp_path / "nowhere", tmp_path / "new")
    with closing(sqlite_store.open_journal(killed)), pytest.raises(StoreBusy):
        repair(killed, tmp_path / "new")
    repair(killed, tmp_path / "new")
    with pytest.raises(Conflict, match="already: 150 events"):
        repair(killed, tmp_path / "new")


def test_a_file_that_holds_nothing_is_not_called_repaired(killed: Path, tmp_path: Path) -> None:
    (killed / "journal.db-wal").unlink()
    (killed / "journal.db").write_bytes(random.Random(1).randbytes(40_000))
    with pytest.raises(StoreBroken, match="nothing of the journal in"):
        repair(killed, tmp_path / "new")
