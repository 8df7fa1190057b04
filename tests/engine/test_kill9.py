"""A dispatcher killed at random instants, over and over, on one backlog of commands that append to files.

Method: each task appends ten marks to the file it claims, 10 ms apart. Were two holders of a file ever alive at
once, their marks would be interleaved in it. Lines on stderr are endings the dispatcher has acknowledged.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path

import psutil
import pytest

from journal_kills import PATIENCE_S, gate, last_event, open_gate, wait_for_event

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
KILLS = 200 if SOAK else 12
# Those of the next life wait, so that no life gets all done; few enough that each ending is said.
TASKS_OF_A_LIFE = 5 if SOAK else 18
TASKS = TASKS_OF_A_LIFE * (KILLS + 1)
FILES = 6
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))

_MARK = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo "$MANYHANDS_TASK $MANYHANDS_ATTEMPT_NUMBER $$" >> "$0"; sleep 0.01; done'


def _write_plan(directory: Path) -> None:
    (directory / "manyhands.toml").write_text('[hosts.local]\ntype = "shell"\nwidth = 4\n')
    tasks = []
    for n in range(TASKS):
        file = f"marks-{n % FILES}.txt"
        argv = f"['sh', '-c', '''{gate(directory, n // TASKS_OF_A_LIFE)}; {_MARK}''', '{file}']"
        tasks.append(f"[[task]]\nid = 't{n}'\nrun = {argv}\nclaims = {{ write = ['{file}'] }}\n")
    (directory / "plan.toml").write_text("\n".join(tasks))


def _start(directory: Path, log: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "manyhands", "run", "plan.toml"]
    (directory / ".manyhands" / "wake").unlink(missing_ok=True)  # left behind by one that was killed
    with log.open("ab") as stderr:
        return subprocess.Popen(argv, cwd=directory, stdout=subprocess.DEVNULL, stderr=stderr)


def _wait_until_it_dispatches(directory: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not (directory / ".manyhands" / "wake").exists():
        assert time.monotonic() < deadline, "it never started to dispatch"
        time.sleep(0.005)


def _acknowledged(log: Path) -> list[str]:
    return re.findall(r"done +(t\d+)#", log.read_text()) if log.exists() else []


def _attempts_alive(directory: Path) -> list[str]:
    alive = []
    for process in psutil.process_iter():
        try:
            here = process.cwd().startswith(str(directory)) and process.pid != os.getpid()
        except psutil.Error:
            continue
        if here:
            alive.append(str(process))
    return alive


@pytest.mark.slow
@pytest.mark.campaign("`kill -9` of a dispatcher on SQLite", KILLS, "kills")
def test_nothing_acknowledged_is_lost_and_no_claims_overlap_when_the_dispatcher_is_killed(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    _write_plan(tmp_path)
    log = tmp_path / "stderr.log"
    for life in range(KILLS):
        open_gate(tmp_path, life)
        # Each task of this life has three events at least: it starts, it is spawned, it ends.
        number = last_event(tmp_path / ".manyhands") + rng.randrange(3 * TASKS_OF_A_LIFE)
        process = _start(tmp_path, log)
        _wait_until_it_dispatches(tmp_path)
        if rng.random() < 0.8:  # else killed while it starts
            assert wait_for_event(process, tmp_path / ".manyhands", number)
        assert process.poll() is None, "the kills must fall into the run"
        process.send_signal(signal.SIGKILL)
        process.wait()
    acknowledged_before = len(_acknowledged(log))
    open_gate(tmp_path, KILLS)
    last = _start(tmp_path, log)
    assert last.wait(timeout=600) == 0

    acknowledged = _acknowledged(log)
    # Killed between the disk and the terminal, an ending may go unsaid, but none is said twice.
    assert len(acknowledged) == len(set(acknowledged)) <= TASKS
    assert 0 < acknowledged_before < TASKS
    runs_of_marks = 0
    finished = set()
    for n in range(FILES):
        marks = (tmp_path / f"marks-{n}.txt").read_text().splitlines()
        stretches = [(mark, len(list(same))) for mark, same in groupby(marks)]
        assert len({mark for mark, _ in stretches}) == len(stretches), f"marks are interleaved in marks-{n}.txt"
        finished |= {mark.split()[0] for mark, length in stretches if length == 10}
        runs_of_marks += len(stretches)
    assert finished == {f"t{n}" for n in range(TASKS)}
    assert runs_of_marks > TASKS, "some attempts must have been killed on the way"
    assert _attempts_alive(tmp_path) == []
