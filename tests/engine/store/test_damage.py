"""Damage to the file is found and named; it never turns into other events."""

import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import AnyEvent, AttemptStarted, RunDrained
from manyhands.engine.store.contract.journal import JournalReader
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import StoreBroken, UsageError


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Batches of 1, 2 … 40 events, two snapshots and a request, in a file that was closed cleanly."""
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        for size in range(1, 41):
            journal.append([started(size, place) for place in range(size)])
        journal.save_snapshot(100, b"older")
        journal.save_snapshot(journal.last, b"newer")
    with closing(sqlite_store.open_requests(tmp_path)) as requests:
        requests.ask(RunDrained(at=0.0, run="asked"))
    return tmp_path


def started(size: int, place: int) -> AnyEvent:
    return AttemptStarted(at=size, attempt=place, run="r", task=f"task-{size}-{place}", host="local")


def flip(directory: Path, text: bytes) -> None:
    file = directory / "journal.db"
    whole = bytearray(file.read_bytes())
    whole[whole.index(text)] ^= 0x20
    file.write_bytes(whole)


def change(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / "journal.db")) as connection, connection:
        connection.execute(statement)


def read_until_damage(reader: JournalReader) -> tuple[list[AnyEvent], StoreBroken]:
    read: list[AnyEvent] = []
    with pytest.raises(StoreBroken) as broken:
        read.extend(event for _, event in reader.read())
    return read, broken.value


def test_a_damaged_row_is_named_and_what_lies_before_it_can_be_read(directory: Path) -> None:
    flip(directory, b"task-4-2")
    with closing(sqlite_store.open_reader(directory)) as reader:
        read, error = read_until_damage(reader)
    assert read == [started(size, place) for size in (1, 2, 3) for place in range(size)]
    assert f"`{directory}/journal.db` is damaged at row 10 (events 7 to 10): the checksum" in error.message
    assert "restore it from a copy" in error.hint


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM batch WHERE seq = 6", r"row 10 \(events 4 to 10\): the checksum"),
        ("DELETE FROM batch WHERE seq = 1", r"row 3 \(events 1 to 3\): the checksum"),
        ("UPDATE batch SET seq = 11 WHERE seq = 10", r"row 11 .*checksum"),
        ("UPDATE batch SET crc = 'x' WHERE seq = 10", r"row 10 .*checksum"),
        ("UPDATE batch SET body = 'x' WHERE seq = 10", r"row 10 .*checksum"),
    ],
)
def test_rows_that_are_missing_or_not_their_own_are_found(directory: Path, statement: str, message: str) -> None:
    change(directory, statement)
    with closing(sqlite_store.open_reader(directory)) as reader:
        _, error = read_until_damage(reader)
    assert re.search(message, error.message)


def test_rows_that_are_missing_at_the_end_are_found_at_once(directory: Path) -> None:
    change(directory, "DELETE FROM batch WHERE seq > 700")
    for open_it in (sqlite_store.open_journal, sqlite_store.open_reader, sqlite_store.open_requests):
        with pytest.raises(StoreBroken, match="is missing: it ends with event 666, and event 820 was recorded"):
            open_it(directory)


def test_another_history_of_the_same_length_is_found(directory: Path, tmp_path: Path) -> None:
    """A journal that lost its end, was continued, and reaches as far as its mark again."""
    other = tmp_path / "other"
    with closing(sqlite_store.open_journal(other)) as journal:
        for size in range(1, 41):
            journal.append([started(size, place + 1) for place in range(size)])
    (other / "journal.db").replace(directory / "journal.db")
    with pytest.raises(StoreBroken, match="damaged at event 820: it is not the event that its mark knows"):
        sqlite_store.open_journal(directory)


def test_a_damaged_snapshot_gives_way_to_the_one_before(directory: Path) -> None:
    with closing(sqlite_store.open_reader(directory)) as reader:
        assert reader.latest_snapshot() == (820, b"newer")
    flip(directory, b"newer")
    with closing(sqlite_store.open_reader(directory)) as reader:
        assert reader.latest_snapshot() == (100, b"older")
    flip(directory, b"older")
    with closing(sqlite_store.open_reader(directory)) as reader:
        assert reader.latest_snapshot() is None
        assert len(list(reader.read())) == 820


def test_a_damaged_request_is_named(directory: Path) -> None:
    flip(directory, b"asked")
    with (
        closing(sqlite_store.open_journal(directory)) as journal,
        pytest.raises(StoreBroken, match="damaged at request 1"),
    ):
        journal.requests()


@pytest.mark.parametrize("open_it", [sqlite_store.open_journal, sqlite_store.open_reader, sqlite_store.open_requests])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, open_it: Callable[[Path], object]) -> None:
    file = tmp_path / "journal.db"
    file.write_text("# a plan that was saved under the wrong name\n" * 200)
    before = file.read_bytes()
    with pytest.raises(StoreBroken, match=f"`{file}` is not a manyhands journal"):
        open_it(tmp_path)
    assert file.read_bytes() == before
    file.unlink()
    change(tmp_path, "CREATE TABLE photos (name)")
    with pytest.raises(StoreBroken, match=f"`{file}` is a database, but not a manyhands journal"):
        open_it(tmp_path)


@pytest.mark.parametrize("kept_bytes", [50, 5000, 40_000])
def test_a_file_cut_short_is_damage(directory: Path, kept_bytes: int) -> None:
    with (directory / "journal.db").open("r+b") as file:
        file.truncate(kept_bytes)
    with pytest.raises(StoreBroken, match=r"journal\.db`"), closing(sqlite_store.open_reader(directory)) as reader:
        list(reader.read())


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_anywhere_is_found_or_harmless(directory: Path, seed: int) -> None:
    file = directory / "journal.db"
    sound = file.read_bytes()
    with closing(sqlite_store.open_reader(directory)) as reader:
        expected = list(reader.read())
    rng = random.Random(seed)
    found = 0
    for turn in range(250):
        # Half of them in the heads of pages, where a bit steers the reading of all the rest.
        at = rng.randrange(len(sound)) if turn % 2 else rng.randrange(0, len(sound), 4096) + rng.randrange(40)
        flipped = bytearray(sound)
        flipped[at] ^= 1 << rng.randrange(8)
        file.write_bytes(flipped)
        for beside in ("-wal", "-shm"):
            Path(f"{file}{beside}").unlink(missing_ok=True)
        open_it = sqlite_store.open_journal if turn % 4 < 2 else sqlite_store.open_reader
        try:
            with closing(open_it(directory)) as reader:
                read = list(reader.read())
                snapshot = reader.latest_snapshot()
                requests = reader.requests()
        except (StoreBroken, UsageError):
            found += 1
            continue
        assert read == expected, f"bit at {at}"
        assert snapshot in ((820, b"newer"), (100, b"older"), None), f"bit at {at}"
        assert requests in ([(1, RunDrained(at=0.0, run="asked"))], []), f"bit at {at}"
    assert 50 < found < 250


def test_a_row_met_twice_is_damage(directory: Path) -> None:
    file = directory / "journal.db"
    whole = bytearray(file.read_bytes())
    page = whole.index(b"task-3-0") // 4096 * 4096
    assert whole[page] == 0x0D  # a leaf: its head of 8 bytes, then 2 for the place of each row in it
    whole[page + 12 : page + 14] = whole[page + 10 : page + 12]
    file.write_bytes(whole)
    with closing(sqlite_store.open_reader(directory)) as reader:
        read, error = read_until_damage(reader)
    assert len(read) == 3
    assert "damaged at row 3 (events 4 to 3): the checksum does not match" in error.message
