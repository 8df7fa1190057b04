"""A dispatcher dies, or the machine loses power, at any instant: what it acknowledged is there, whole.

A child process appends batches of random sizes and says on a pipe which it has been told are safe. Every event
names its batch, its place in it and the batch's size, so that a torn or missing batch shows.
"""

import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from manyhands.core.events import AttemptStarted
from manyhands.engine.store.contract.journal import Durability
from manyhands.engine.store.sqlite import sqlite_store
from manyhands.errors import ManyhandsError

KILLS = 300 if os.environ.get("MANYHANDS_SOAK") else 30

APPENDER = """
import os, random, sys
from pathlib import Path
from manyhands.core.events import AttemptStarted
from manyhands.engine.store.sqlite import sqlite_store

directory, durability, seed = sys.argv[1:]
rng = random.Random(int(seed))
journal = sqlite_store.open_journal(Path(directory), durability)
batch = max((int(event.run) for _, event in journal.read(journal.last - 1)), default=0) if journal.last else 0
while True:
    batch += 1
    size = rng.choice([1, 2, 10, 200, 3000])
    journal.append(AttemptStarted(at=float(size), attempt=i, run=str(batch), task="", host="") for i in range(size))
    if batch % 50 == 0:
        journal.save_snapshot(journal.last, b"state" * 5000)
    os.write(1, b"%d\\n" % batch)
"""


def start_appender(directory: Path, durability: Durability, seed: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", APPENDER, str(directory), durability, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)


def acknowledged(child: subprocess.Popen[bytes], more_s: float, batches_min: int = 0) -> int:
    """The last batch the child was told is safe, by a random instant after its first few."""
    assert child.stdout is not None
    said = b""
    while said.count(b"\n") < batches_min:
        part = os.read(child.stdout.fileno(), 65536)
        assert part, "the appender ended by itself"
        said += part
    select.select([], [], [], more_s)
    child.send_signal(signal.SIGSTOP)  # the killing is then at the very instant the pipe is read
    os.set_blocking(child.stdout.fileno(), False)
    said += child.stdout.read() or b""
    whole_lines = said[: said.rfind(b"\n") + 1].split()
    return int(whole_lines[-1]) if whole_lines else 0


class Checker:
    """Reads what was added since it last looked: every batch must be whole and follow the one before."""

    def __init__(self) -> None:
        self.batch = self.seq = 0

    def batches(self, directory: Path) -> int:
        place = size = 0
        with closing(sqlite_store.open_reader(directory)) as reader:
            for seq, event in reader.read(self.seq):
                assert isinstance(event, AttemptStarted)
                if place == size:
                    self.batch, place, size = self.batch + 1, 0, int(event.at)
                assert (int(event.run), event.attempt, int(event.at)) == (self.batch, place, size)
                place, self.seq = place + 1, seq
        assert place == size, f"batch {self.batch} is torn: {place} of {size} events"
        return self.batch


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["crash", "power"])
@pytest.mark.campaign("`kill -9` of a process that writes to SQLite", KILLS, "kills")
def test_kill_9_at_random_instants_loses_nothing_acknowledged_and_tears_nothing(
    tmp_path: Path, durability: Durability
) -> None:
    seed = random.randrange(10**6)
    rng = random.Random(seed)
    checker, acked = Checker(), 0
    for kill in range(KILLS):
        child = start_appender(tmp_path, durability, seed + kill)
        # Every fifth is killed while it may still be opening the journal.
        early = kill % 5 == 4
        now = acknowledged(child, rng.random() * (0.2 if early else 0.02), 0 if early else rng.randrange(1, 30))
        child.kill()
        child.communicate()
        acked = max(acked, now)
        if acked == 0:
            continue
        there = checker.batches(tmp_path)
        assert there >= acked, f"seed {seed}, kill {kill}: batch {acked} was acknowledged, {there} are there"
        acked = there
    with closing(sqlite_store.open_journal(tmp_path)) as journal:
        snapshot = journal.latest_snapshot()
        assert snapshot is not None
        assert snapshot[0] <= journal.last
        assert snapshot[1] == b"state" * 5000


needs_a_disk = pytest.mark.skipif(
    os.geteuid() != 0 or not all(shutil.which(tool) for tool in ("mkfs.ext4", "mount", "umount")),
    reason="needs root and mkfs.ext4: it makes a disk of its own, to cut the power of",
)


@contextmanager
def mounted(image: Path, directory: Path) -> Iterator[Path]:
    directory.mkdir()
    mount = subprocess.run(["mount", "-o", "loop", image, directory], capture_output=True, text=True, check=False)
    if mount.returncode != 0:
        pytest.skip(f"this machine mounts no image files: {mount.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "--lazy", directory], check=True)


def cut_power(tmp_path: Path, durability: Durability) -> tuple[int, Path]:
    """The last batch acknowledged, and the disk: an image copied on the instant, without what only the kernel knew."""
    image, survivor = tmp_path / "disk.img", tmp_path / "survivor.img"
    with image.open("wb") as file:
        file.truncate(256 << 20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    with mounted(image, tmp_path / "before") as disk:
        child = start_appender(disk / "journal", durability, seed=1)
        try:
            acked = acknowledged(child, 0.01, batches_min=20)
            shutil.copyfile(image, survivor)
        finally:
            child.kill()
            child.communicate()
    return acked, survivor


@needs_a_disk
def test_a_power_cut_loses_nothing_acknowledged_at_the_power_grade(tmp_path: Path) -> None:
    acked, survivor = cut_power(tmp_path, "power")
    with mounted(survivor, tmp_path / "after") as disk:
        assert Checker().batches(disk / "journal") >= acked >= 20


@needs_a_disk
def test_the_power_cut_of_these_tests_is_real(tmp_path: Path) -> None:
    """At the crash grade, which leaves syncing to the kernel, the same cut does lose what was acknowledged."""
    acked, survivor = cut_power(tmp_path, "crash")
    with mounted(survivor, tmp_path / "after") as disk:
        try:
            there = Checker().batches(disk / "journal")
        except ManyhandsError:
            there = 0
    assert there < acked
