"""Random damage to the files of a store: it is named, or it changes nothing. It is never silent.

A store is damaged as a disk or a careless copy would damage it: flipped bits, zeros, lost ends and lost files, in the
main file, in the write-ahead log and in both. Then a dispatcher and a reader open it.
"""

import os
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from manyhands.core.events import AnyEvent, AttemptStarted, RunDrained
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import StoreBroken
from store_damage import copy_files, cut, flip, lose, misdirect, zero

DAMAGES = 360 if os.environ.get("MANYHANDS_SOAK") else 60
MAIN, LOG = "journal.db", "journal.db-wal"


def events(batch: int) -> list[AnyEvent]:
    size = batch % 7 + 1
    return [AttemptStarted(at=batch, attempt=n, run="r", task=f"task-{batch}-{n}", host="local") for n in range(size)]


def make_store(directory: Path, live: Path, closed: Path) -> None:
    """`live` is the store as `kill -9` leaves it, most of it in the log only; `closed` was closed cleanly."""
    with closing(sqlite_store.open_journal(directory)) as journal:
        for batch in range(60):
            journal.append(events(batch))
    with closing(sqlite_store.open_journal(directory)) as journal:
        journal.save_snapshot(20, b"older" * 900)
        with closing(sqlite_store.open_requests(directory)) as asking:
            for batch in range(60, 150):
                journal.append(events(batch))
                if batch % 20 == 0:
                    asking.ask(RunDrained(at=0.0, run=f"asked {batch}"))
        journal.save_snapshot(journal.last, b"newer" * 900)
        copy_files(directory, live)
    copy_files(directory, closed)


def contents(directory: Path) -> tuple[list[AnyEvent], list[AnyEvent]]:
    with closing(sqlite_store.open_journal(directory)) as journal:
        assert journal.latest_snapshot() in (None, (20, b"older" * 900), (journal.last, b"newer" * 900))
        return [event for _, event in journal.read()], [event for _, event in journal.requests()]


DAMAGING: dict[str, list[tuple[Callable[[Path, random.Random], None], str]]] = {
    "a bit in the main file": [(flip, MAIN)],
    "zeros in the main file": [(zero, MAIN)],
    "the end of the main file": [(cut, MAIN)],
    "a lost main file": [(lose, MAIN)],
    "a misdirected write to the main file": [(misdirect, MAIN)],
    "a misdirected write to the log": [(misdirect, LOG)],
    "a bit in the log": [(flip, LOG)],
    "zeros in the log": [(zero, LOG)],
    "the end of the log": [(cut, LOG)],
    "copied without the log": [(lose, LOG)],
    "bits in both": [(flip, MAIN), (flip, LOG)],
    "zeros in both": [(zero, MAIN), (zero, LOG)],
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stores")
    make_store(place / "made", place / "live", place / "closed")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("kind", DAMAGING)
@pytest.mark.campaign("damage to the files of a store", DAMAGES // 12, "damages")
def test_no_damage_to_the_files_of_a_store_is_silent(stores: Path, tmp_path: Path, kind: str) -> None:
    damages = DAMAGES // len(DAMAGING)
    expected = contents(stores / "closed")
    assert len(expected[0]) > 300
    assert len(expected[1]) == 5
    found = 0
    for seed in range(damages):
        named = 0
        for opening in ("dispatcher", "reader"):
            damaged = tmp_path / f"{seed}-{opening}"
            copy_files(stores / "live", damaged)
            draw = random.Random(f"{kind} {seed}")
            for damage, file in DAMAGING[kind]:
                damage(damaged / file, draw)
            try:
                if opening == "dispatcher":
                    assert contents(damaged) == expected, f"{kind}, seed {seed}"
                else:
                    with closing(sqlite_store.open_reader(damaged)) as reader:
                        assert [event for _, event in reader.read()] == expected[0], f"{kind}, seed {seed}"
            except StoreBroken as broken:
                named += f"{damaged}/journal.db" in broken.message
        found += named > 0
    assert found > 0 or kind == "the end of the log"


@pytest.mark.parametrize("without", [[LOG], [LOG, "journal.db-mark"], [MAIN]])
def test_a_store_that_was_copied_in_part_is_refused_by_everyone(
    stores: Path, tmp_path: Path, without: list[str]
) -> None:
    copied = tmp_path / "copied"
    copy_files(stores / "live", copied)
    for name in without:
        (copied / name).unlink()
    before = {file.name: file.read_bytes() for file in copied.iterdir()}
    for open_it in (sqlite_store.open_journal, sqlite_store.open_reader, sqlite_store.open_requests):
        with pytest.raises(StoreBroken) as broken:
            open_it(copied).close()
        assert str(copied / MAIN) in broken.value.message
        assert "manyhands store repair --to" in broken.value.hint
    for name in before:
        assert (copied / name).read_bytes() == before[name] or name == "lock"


def test_a_damaged_log_is_still_there_after_it_was_refused(stores: Path, tmp_path: Path) -> None:
    """What lies behind the damage may yet be saved, so nothing may clear the log away."""
    damaged = tmp_path / "damaged"
    copy_files(stores / "live", damaged)
    whole = bytearray((damaged / LOG).read_bytes())
    whole[40_000] ^= 1
    (damaged / LOG).write_bytes(whole)
    for open_it in (sqlite_store.open_reader, sqlite_store.open_requests, sqlite_store.open_journal):
        with pytest.raises(StoreBroken, match="the end of the journal"):
            open_it(damaged).close()
    assert (damaged / LOG).read_bytes() == whole
