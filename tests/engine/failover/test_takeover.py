"""Real dispatchers on one journal and one backlog: leaders are killed and stopped, others take over.

Method: each task takes the lock of the file it claims, as the kernel keeps it for the task's own processes. Were two
holders of a claim ever alive at once, whoever led, the second would find the lock taken and say so. Lines of the log
are endings that were acknowledged.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil
import pytest

from journal_kills import last_event, wait_for_event
from manyhands.core.events import AttemptEnded, AttemptStarted, TasksSubmitted
from manyhands.core.values.ending import EndingKind
from manyhands.engine.store.store_opening import open_reader
from postgres_server import PostgresServer
from surfaces.cli.console import wait_until

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
KILLS = 100 if SOAK else 2
RESTARTS = 20 if SOAK else 1
TASKS = 4000 if SOAK else 40
FILES = 4
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))
PATIENCE_S = 120.0

_HOLD = (
    'exec 9>"$0.lock"; flock -n 9 || { echo "$MANYHANDS_TASK" >> overlaps; exit 3; }; '
    'echo "$MANYHANDS_TASK" >> "$0"; sleep $1'
)

needs_flock = pytest.mark.skipif(shutil.which("flock") is None, reason="needs `flock` of util-linux")


def write_plan(directory: Path, tasks: int = TASKS, seconds: float = 0.15) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\nwidth = 3\n')
    rows = []
    for n in range(tasks):
        file = f"held-{n % FILES}"
        argv = f"['sh', '-c', '''{_HOLD}''', '{file}', '{seconds}']"
        rows.append(f"[[task]]\nid = 't{n}'\nrun = {argv}\nclaims = {{ write = ['{file}'] }}\nattempts = 9\n")
    (directory / "plan.toml").write_text("\n".join(rows))


class Dispatcher:
    """A `manyhands serve` of its own."""

    count = 0

    def __init__(self, directory: Path, url: str, *before: str) -> None:
        Dispatcher.count += 1
        self.log = directory / f"serve-{Dispatcher.count}.log"
        serve = [sys.executable, "-m", "manyhands", "serve", "--plan", "plan.toml", "--port", "0", "--store", url]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*before, *serve], cwd=directory, stdout=log, stderr=log, start_new_session=True
            )

    def said(self) -> str:
        return self.log.read_text()

    def wait_said(self, text: str) -> None:
        def said() -> bool:
            assert self.process.poll() is None or text in self.said(), f"it ended: {self.said()[-1000:]}"
            return text in self.said()

        wait_until(said, f"`{text}`", PATIENCE_S)

    def acknowledged(self) -> list[str]:
        return re.findall(r"action=ended task=(t\d+)#.* ending=done", self.said())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def check_journal(url: str, directory: Path, acknowledged: list[str], tasks: int = TASKS) -> None:
    with closing(open_reader(url)) as reader:
        events = [event for _, event in reader.read()]
    recorded = Counter(task.id for event in events if isinstance(event, TasksSubmitted) for task in event.tasks)
    task_of = {event.attempt: event.task for event in events if isinstance(event, AttemptStarted)}
    endings = [event for event in events if isinstance(event, AttemptEnded)]
    done = Counter(task_of[event.attempt] for event in endings if event.ending.kind is EndingKind.DONE)
    assert set(recorded.values()) == {1}
    assert done == {f"t{n}": 1 for n in range(tasks)}
    assert set(Counter(event.attempt for event in endings).values()) == {1}
    assert len(acknowledged) == len(set(acknowledged)), "acknowledged twice"
    assert set(acknowledged) <= set(done)
    assert not (directory / "overlaps").exists(), (directory / "overlaps").read_text()


def all_done(url: str, tasks: int = TASKS) -> bool:
    with closing(open_reader(url)) as reader:
        kinds = (event.ending.kind for _, event in reader.read() if isinstance(event, AttemptEnded))
        return sum(kind is EndingKind.DONE for kind in kinds) >= tasks


def stop_all(dispatchers: list[Dispatcher], directory: Path) -> None:
    for each in dispatchers:
        if each.process.poll() is None:
            each.process.send_signal(signal.SIGCONT)
            each.process.terminate()
    for each in dispatchers:
        try:
            each.process.wait(PATIENCE_S)
        finally:
            each.kill()
    wait_until(lambda: not alive_in(directory), "attempts and guards to end", PATIENCE_S)


def alive_in(directory: Path) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cwd().startswith(str(directory)) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(str(process))
        except psutil.Error:
            continue
    return found


@needs_flock
@pytest.mark.slow
@pytest.mark.campaign("dispatchers on PostgreSQL, killed or stopped, and followed", KILLS, "takeovers")
def test_leaders_are_killed_and_stopped_and_the_backlog_is_done_all_the_same(postgres_url: str, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    done = partial(all_done, postgres_url)
    write_plan(tmp_path)
    leader = Dispatcher(tmp_path, postgres_url)
    leader.wait_said("action=serving")
    started, took = [leader], []
    try:
        for kill in range(KILLS):
            follower = Dispatcher(tmp_path, postgres_url)
            started.append(follower)
            follower.wait_said("standing by")
            wait_for_event(leader.process, postgres_url, last_event(postgres_url) + rng.randrange(30), unless=done)
            is_stopped = kill % 2 == 1
            leader.process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGKILL)
            gone_at = time.monotonic()
            follower.wait_said("action=serving")
            took.append(time.monotonic() - gone_at)
            if is_stopped:
                leader.process.send_signal(signal.SIGCONT)
                assert leader.process.wait(PATIENCE_S) == 75
                assert "no longer" in leader.said()
            leader = follower
        wait_until(done, "all tasks", PATIENCE_S * 10)
    finally:
        stop_all(started, tmp_path)
    check_journal(postgres_url, tmp_path, [task for each in started for task in each.acknowledged()])
    print(f"{KILLS} takeovers: {sorted(took)[len(took) // 2]:.2f} s in the middle, {max(took):.2f} s at most")
    if SOAK:
        assert max(took) <= 5.0


@needs_flock
@pytest.mark.slow
@pytest.mark.campaign("restarts of PostgreSQL under dispatchers", RESTARTS, "restarts")
def test_the_server_is_restarted_in_mid_run_and_the_backlog_is_done_all_the_same(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    rng = random.Random(SEED)
    done = partial(all_done, postgres_url)
    write_plan(tmp_path)
    dispatchers = [Dispatcher(tmp_path, postgres_url)]
    dispatchers[0].wait_said("action=serving")
    dispatchers.append(Dispatcher(tmp_path, postgres_url))
    dispatchers[1].wait_said("standing by")
    try:
        for restart in range(RESTARTS):
            wait_for_event(
                dispatchers[0].process, postgres_url, last_event(postgres_url) + rng.randrange(60), unless=done
            )
            postgres_server.restart(signal.SIGQUIT if restart % 2 else signal.SIGINT)
        wait_until(done, "all tasks", PATIENCE_S * 10)
    finally:
        stop_all(dispatchers, tmp_path)
    check_journal(postgres_url, tmp_path, [task for each in dispatchers for task in each.acknowledged()])


def can_unshare() -> bool:
    command = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@needs_flock
@pytest.mark.slow
@pytest.mark.skipif(not can_unshare(), reason="needs root and `unshare`: one leader gets process ids of its own")
def test_attempts_of_a_leader_elsewhere_are_dead_before_their_claims_are_free(
    postgres_url: str, tmp_path: Path
) -> None:
    """The new leader cannot use the old one's process ids, as on another machine. The old guard kills its attempts."""
    write_plan(tmp_path, tasks=2, seconds=600)
    apart = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; sleep 600', "sh")
    elsewhere = Dispatcher(tmp_path, postgres_url, *apart)
    here = None
    try:
        elsewhere.wait_said("action=started")
        wait_until(lambda: (tmp_path / "held-0").exists(), "the attempt to hold its file", PATIENCE_S)
        here = Dispatcher(tmp_path, postgres_url)
        here.wait_said("standing by")
        serving = [p for p in psutil.Process(elsewhere.process.pid).children(recursive=True) if "serve" in p.cmdline()]
        serving[0].kill()
        here.wait_said("ending=lost")
        wait_until(lambda: (tmp_path / "held-0").read_text().count("t0") == 2, "its second attempt", PATIENCE_S)
        assert not (tmp_path / "overlaps").exists()
    finally:
        elsewhere.kill()
        if here is not None:
            stop_all([here], tmp_path)
