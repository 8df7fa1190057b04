"""Disks that are full or read-only: a clear error, and what was acknowledged is still there."""

import itertools
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from manyhands.core.events import AttemptStarted, RunDrained, Woke
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import StoreBroken, UsageError


def mount(*arguments: str | Path) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Permission bits bind everyone but root; a read-only mount binds root too."""
    if os.geteuid() != 0:
        directory.chmod(0o500)
        try:
            yield
        finally:
            directory.chmod(0o700)
        return
    mount("--bind", directory, directory)
    try:
        mount("-o", "remount,ro,bind", directory)
        yield
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small disk; the file-size limit is tested without")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "none", disk)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def a_batch(number: int) -> list[AttemptStarted]:
    return [AttemptStarted(at=number, attempt=i, run="r", task=f"task-{i}", host="local") for i in range(50)]


def test_a_read_only_journal_can_be_read_and_not_written(tmp_path: Path) -> None:
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        journal.append([Woke(at=1.0), Woke(at=2.0)])
    with read_only(tmp_path):
        with pytest.raises(StoreBroken, match=f"`{tmp_path}.*(Read-only|Permission)") as broken:
            sqlite_store.open_journal(tmp_path)
        assert "writable" in broken.value.hint
        with (
            pytest.raises(StoreBroken, match=f"`{tmp_path}"),
            closing(sqlite_store.open_requests(tmp_path)) as requests,
        ):
            requests.ask(RunDrained(at=0.0, run="r"))
        with closing(sqlite_store.open_reader(tmp_path)) as reader:
            assert [event.at for _, event in reader.read()] == [1.0, 2.0]


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for directory in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreBroken, match=f"cannot create .*`{directory}`"):
            sqlite_store.open_journal(directory)


@pytest.mark.parametrize("open_it", [sqlite_store.open_reader, sqlite_store.open_requests])
def test_looking_for_a_journal_that_was_never_begun_makes_none(
    tmp_path: Path, open_it: Callable[[Path], object]
) -> None:
    with pytest.raises(UsageError, match=f"no journal in `{tmp_path}"):
        open_it(tmp_path / "nowhere")
    (tmp_path / "journal.db").touch()  # a dispatcher is just making it
    with pytest.raises(UsageError, match=f"no journal in `{tmp_path}"):
        open_it(tmp_path)


def test_a_full_disk_is_an_error_that_leaves_the_journal_whole_and_in_use(small_disk: Path) -> None:
    with closing(sqlite_store.open_journal(small_disk)) as journal:
        (small_disk / "ballast").write_bytes(b"." * (1 << 20))
        numbers = itertools.count()
        with pytest.raises(StoreBroken, match=r"journal\.db`: the disk is full") as broken:
            deque((journal.append(a_batch(number)) for number in numbers), maxlen=0)
        acknowledged = (next(numbers) - 1) * 50
        assert acknowledged > 0
        assert "free some space" in broken.value.hint
        for reader in (journal, sqlite_store.open_reader(small_disk)):
            assert len(list(reader.read())) == acknowledged
        (small_disk / "ballast").unlink()
        assert journal.append(a_batch(0)) == acknowledged + 50
    with closing(sqlite_store.open_journal(small_disk)) as journal:
        assert len(list(journal.read())) == acknowledged + 50


def test_an_append_too_large_for_the_disk_leaves_nothing_of_itself(small_disk: Path) -> None:
    with closing(sqlite_store.open_journal(small_disk)) as journal:
        before = journal.append(a_batch(0))
        with pytest.raises(StoreBroken, match="full"):
            journal.append(event for number in range(5000) for event in a_batch(number))
        with pytest.raises(StoreBroken, match="full"):
            journal.save_snapshot(before, os.urandom(8 << 20))
        assert len(list(journal.read())) == journal.last == before
        assert journal.latest_snapshot() is None
        assert journal.append(a_batch(1)) == before + 50


def test_a_limit_on_the_size_of_files_is_an_error_that_loses_nothing(tmp_path: Path) -> None:
    script = """
import resource, signal, sys
from pathlib import Path
from manyhands.core.events import Woke
from manyhands.errors import StoreBroken
from manyhands.engine.store.sqlite import sqlite_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = sqlite_store.open_journal(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    while True:
        last = journal.append([Woke(at=1.0)] * 100)
except StoreBroken as error:
    print(last, error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    last, message = done.stdout.split(maxsplit=1)
    assert f"`{tmp_path}/journal.db`" in message
    with closing(sqlite_store.open_reader(tmp_path)) as reader:
        assert len(list(reader.read())) == int(last) > 0
