"""Leaders of one journal that are killed, stopped and woken, and a server that goes away under them.

A child process leads and appends batches of random sizes, saying on a pipe which it was told are safe. Every event
names its batch, its place in it and the batch's size, so that one that is torn, missing or written twice shows.
"""

import os
import random
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import closing

import psycopg
import pytest

from manyhands.core.events import AttemptStarted, Woke
from manyhands.engine.store.postgres.leader_lease import LEASE_S
from manyhands.engine.store.postgres.postgres_journal import PostgresJournal
from manyhands.engine.store.store_opening import open_journal, open_reader, open_stand_by
from manyhands.errors import LeaseLost, StoreBroken, StoreBusy
from postgres_server import PostgresServer

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
KILLS = 500 if SOAK else 2
RESTARTS = 20 if SOAK else 2
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))
PATIENCE_S = 60.0

LEADER = """
import os, random, sys, time
from manyhands.core.events import AttemptStarted
from manyhands.errors import ManyhandsError, StoreBusy
from manyhands.engine.store.store_opening import open_journal, open_stand_by

url, seed = sys.argv[1:]
rng = random.Random(int(seed))
def lead():
    try:
        return open_journal(url)
    except StoreBusy:
        os.write(1, b"standing by\\n")
    stand_by = open_stand_by(url)
    while True:
        if stand_by.wait():
            try:
                return open_journal(url)
            except StoreBusy:
                pass
journal = lead()
os.write(1, b"leading %.3f\\n" % time.time())
batch = max((int(event.run) for _, event in journal.read(journal.last - 1)), default=0) if journal.last else 0
try:
    while True:
        batch += 1
        size = rng.choice([1, 2, 10, 200, 3000])
        journal.append(AttemptStarted(at=float(size), attempt=i, run=str(batch), task="", host="") for i in range(size))
        os.write(1, b"%d\\n" % batch)
        time.sleep(rng.random() * 0.02)
except ManyhandsError as error:
    os.write(1, f"{type(error).__name__}: {error.message}\\n".encode())
"""


class Leader:
    def __init__(self, url: str, seed: int = 0) -> None:
        command = [sys.executable, "-c", LEADER, url, str(seed)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
        self.said = ""  # since it was last listened to
        self._transcript = ""

    def hear(self, pattern: str, patience_s: float = PATIENCE_S) -> str:
        """Waits until it says so, beyond all it has said before."""
        deadline = time.monotonic() + patience_s
        assert self.process.stdout is not None
        while not (found := re.search(pattern, self.said)):
            assert time.monotonic() < deadline, f"never said {pattern}: {self.said[-200:]}"
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                part = os.read(self.process.stdout.fileno(), 1 << 16).decode()
                assert part or self.process.poll() is None, f"it ended: {self.said[-500:]}"
                self.said += part
                self._transcript += part
        self.said = self.said[found.end() :]
        return found[0]

    def acknowledged(self) -> int:
        """The last batch it was told is safe; it is stopped for good."""
        self.process.send_signal(signal.SIGSTOP)  # the kill is then at the very instant the pipe is read
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self._transcript += (self.process.stdout.read() or b"").decode()
        self.kill()
        whole = self._transcript[: self._transcript.rfind("\n") + 1]
        return int((re.findall(r"^(\d+)$", whole, re.MULTILINE) or ["0"])[-1])

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


class Checker:
    """Reads what was added since it last looked: every batch must be whole and follow the one before."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.batch = self.seq = 0

    def batches(self) -> int:
        place = size = 0
        with closing(open_reader(self._url)) as reader:
            for seq, event in reader.read(self.seq):
                assert isinstance(event, AttemptStarted)
                if place == size:
                    self.batch, place, size = self.batch + 1, 0, int(event.at)
                assert (int(event.run), event.attempt, int(event.at)) == (self.batch, place, size)
                place, self.seq = place + 1, seq
        assert place == size, f"batch {self.batch} is torn: {place} of {size} events"
        return self.batch


@pytest.mark.slow
@pytest.mark.campaign("`kill -9` of a leader on PostgreSQL while it writes", KILLS, "kills")
def test_a_leader_killed_at_random_is_followed_and_nothing_acknowledged_is_lost(postgres_url: str) -> None:
    rng = random.Random(SEED)
    checker, acked = Checker(postgres_url), 0
    took: list[float] = []
    leader = Leader(postgres_url)
    leader.hear(r"leading .*\n")
    for kill in range(KILLS):
        follower = Leader(postgres_url, seed=kill + 1)
        follower.hear("standing by")
        leader.hear(r"(\d+\n)" * rng.randrange(1, 16))
        acked = max(acked, leader.acknowledged())
        killed_at = time.time()
        took.append(float(follower.hear(r"leading .*\n").split()[1]) - killed_at)
        leader = follower
        assert checker.batches() >= acked, f"batch {acked} was acknowledged (seed {SEED}, kill {kill})"
    leader.kill()
    print(
        f"takeover after {KILLS} kills: {sorted(took)[len(took) // 2]:.2f} s in the middle, {max(took):.2f} s at most"
    )
    if SOAK:
        assert max(took) <= 5.0


@pytest.mark.slow
def test_a_stopped_leader_is_followed_and_can_write_nothing_once_woken(postgres_url: str) -> None:
    stopped = Leader(postgres_url)
    stopped.hear(r"\n50\n")
    os.kill(stopped.process.pid, signal.SIGSTOP)  # its connection stays open
    follower = Leader(postgres_url, seed=1)
    follower.hear(r"leading .*\n")
    os.kill(stopped.process.pid, signal.SIGCONT)
    said = stopped.hear(r"LeaseLost: .*\n")
    assert f"process {follower.process.pid} on " in said
    assert "took over" in said
    stopped.process.communicate()
    acked = follower.acknowledged()
    assert Checker(postgres_url).batches() >= acked


@pytest.mark.slow
@pytest.mark.campaign("restarts of PostgreSQL under a leader", RESTARTS, "restarts")
def test_a_leader_goes_on_by_itself_when_the_server_was_restarted(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    rng = random.Random(SEED)
    leader, checker = Leader(postgres_url), Checker(postgres_url)
    for restart in range(RESTARTS):
        leader.hear(r"\n\d+\n(\d+\n)+")
        leader.hear(r"(\d+\n)" * rng.randrange(1, 10))
        # Every second time it is cut down, and recovers from its own log.
        postgres_server.restart(signal.SIGQUIT if restart % 2 else signal.SIGINT)
        leader.hear(r"\n\d+\n(\d+\n)+")
        checker.batches()
    acked = leader.acknowledged()
    assert checker.batches() >= acked > 0


def test_a_leader_whose_lease_was_taken_is_told_so_without_writing(postgres_url: str) -> None:
    with closing(open_journal(postgres_url)) as first:
        first.append([Woke(1.0)])
        expire(postgres_url)
        with closing(open_journal(postgres_url)) as second:
            with pytest.raises(LeaseLost, match=f"led.*|process {os.getpid()} on .* took over"):
                first.append([Woke(2.0)])
            with pytest.raises(LeaseLost):
                first.save_snapshot(1, b"of the old one")
            assert second.append([Woke(3.0)]) == 2
            assert [event.at for _, event in second.read()] == [1.0, 3.0]
            assert second.latest_snapshot() is None
            # It finds out by itself too, and wakes whoever waits for requests.
            assert select.select([first.wake_fileno()], [], [], PATIENCE_S)[0]
            wait_for_loss(first)


def expire(url: str) -> None:
    """The lease as it is after a long silence, without the silence."""
    project = url.partition("project=")[2]
    with psycopg.connect(url.partition("&project=")[0], autocommit=True) as connection:
        connection.execute(f"UPDATE {project}.lease SET token = token + 1, expires_at = '-infinity'".encode())


def wait_for_loss(journal: object) -> None:
    assert isinstance(journal, PostgresJournal)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        select.select([journal.wake_fileno()], [], [], 0.1)
        journal.clear_wake()
        try:
            journal.requests()
        except LeaseLost:
            return
    raise AssertionError("it never found out")


def test_a_leader_that_is_cut_off_says_so_when_its_lease_has_run_out(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    kept: list[float] = []
    cut_off: list[float] = []
    with closing(open_journal(postgres_url)) as journal:
        journal.append([Woke(1.0)])
        journal.watch(kept.append, lambda: cut_off.append(time.clock_gettime(time.CLOCK_BOOTTIME)))
        assert kept
        postgres_server.stop()
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not cut_off:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        finally:
            postgres_server.start()
        assert cut_off[0] >= kept[-1] or len(kept) > 1
        assert journal.append([Woke(2.0)]) == 2  # nobody else has taken over: it leads on


def test_a_leader_is_not_followed_while_its_server_is_away_and_waits_no_longer_once_it_gives_up(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    with closing(open_journal(postgres_url)) as journal, closing(open_stand_by(postgres_url)) as stand_by:
        postgres_server.stop()
        try:
            assert not stand_by.wait()
            journal.give_up()
            with pytest.raises(StoreBroken, match="cannot reach the store"):
                journal.append([Woke(1.0)])
        finally:
            postgres_server.start()


def test_who_would_lead_too_is_told_who_leads(postgres_url: str) -> None:
    leader = Leader(postgres_url)
    leader.hear("leading")
    try:
        with pytest.raises(StoreBusy, match=f"is led by process {leader.process.pid} on ") as busy:
            open_journal(postgres_url)
        assert busy.value.exit_code == 75
    finally:
        leader.kill()
    # A leader that was killed is waited for: its lease runs out.
    with closing(open_journal(postgres_url)) as journal:
        assert journal.last > 0
        assert journal.strangers_s <= LEASE_S  # it was on this machine, and led for a while
