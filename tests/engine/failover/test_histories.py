"""What submitters and leaders were told, against the journal: an order of all of it exists, and leaders take turns.

Leaders are killed, stopped and woken, and cut off from the server: each has a line of its own to PostgreSQL, which
waits while it is cut (`CutLine`). Two others stand by each time and race for the lead.
"""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from engine.failover.cut_line import CutLine
from engine.failover.histories import Read, Write, blocks_of, faults_of
from manyhands.core.events import AnyEvent, HostPaused, RunOpened, TasksSubmitted
from manyhands.engine.store.store_opening import make, open_reader, open_requests
from postgres_server import PostgresServer
from surfaces.cli.console import wait_until

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
FAULTS = 60 if SOAK else 3
SUBMITTERS = 3
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))
PATIENCE_S = 120.0

LEADER = """
import asyncio, sys, time
from pathlib import Path
from manyhands.core.events import HostPaused
from manyhands.core.values.host import Host
from manyhands.engine.session import dispatching
from manyhands.engine.store.store_opening import open_stand_by
from manyhands.errors import ManyhandsError, StoreBusy
url, directory, name = sys.argv[1:]
async def lead():
    hosts = [Host(name)]
    place = Path(directory)
    async with dispatching(place, "power", hosts, (), lambda *_: {}, store=url, all_runs_go_on=True) as leader:
        print("leading", flush=True)
        number = 0
        while True:
            value = f"{name}:{number}"
            print("began", value, time.monotonic(), flush=True)
            await leader.submit(HostPaused(leader.clock.now(), name, value))
            print("acknowledged", value, time.monotonic(), flush=True)
            number += 1
            await asyncio.sleep(0.005)
print("ready", flush=True)
while True:
    try:
        asyncio.run(lead())
    except StoreBusy:
        stand_by = open_stand_by(url)
        print("standing by", flush=True)
        while not stand_by.wait():
            pass
        stand_by.close()
    except ManyhandsError as error:
        print(type(error).__name__, flush=True)
        sys.exit(75)
"""

SUBMITTER = """
import sys, time
from manyhands.core.events import TasksSubmitted
from manyhands.core.values.task import Task
from manyhands.engine.store.store_opening import open_requests
url, name = sys.argv[1:]
requests = open_requests(url)
number = 0
while True:
    value = f"{name}:{number}"
    print("began", value, time.monotonic(), flush=True)
    requests.ask(TasksSubmitted(0.0, "r", (Task(id=value, deferred=True),)))
    print("acknowledged", value, time.monotonic(), flush=True)
    number += 1
    time.sleep(0.01)
"""


class Writer:
    """A process that says on a pipe what it begins to write and what it was told is written."""

    def __init__(self, program: str, *arguments: str) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
        self._said: list[str] = []
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line)

    def has_said(self, pattern: str, times: int = 1) -> bool:
        assert self._process.poll() is None or "LeaseLost\n" in self._said, f"it ended: {self._said[-3:]}"
        return sum(re.match(pattern, line) is not None for line in [*self._said]) >= times

    def wait_said(self, pattern: str, times: int = 1) -> None:
        wait_until(lambda: self.has_said(pattern, times), f"`{pattern}`", PATIENCE_S)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait_ended(self) -> int:
        return self._process.wait(PATIENCE_S)

    def end(self) -> list[Write]:
        self._process.kill()
        self._process.wait()
        self._listening.join()
        began: dict[str, float] = {}
        acknowledged: dict[str, float] = {}
        for line in self._said:
            words = line.split()
            if len(words) == 3 and line.endswith("\n"):
                (began if words[0] == "began" else acknowledged)[words[1]] = float(words[2])
        return [Write(value, at, acknowledged.get(value, float("inf"))) for value, at in began.items()]


def first_to_lead(waiting: list[Writer]) -> Writer:
    def leading() -> Writer | None:
        return next((each for each in waiting if each.has_said("acknowledged")), None)

    found: Writer = wait_until(leading, "a new leader", PATIENCE_S)
    return found


def read_all(url: str) -> tuple[list[str], list[str]]:
    """What submitters and leaders have written, in the order of the journal."""
    with closing(open_reader(url)) as reader:
        events: list[AnyEvent] = [event for _, event in reader.read()]
    asked = [task.id for event in events if isinstance(event, TasksSubmitted) for task in event.tasks]
    return asked, [event.why for event in events if isinstance(event, HostPaused)]


@pytest.mark.slow
@pytest.mark.campaign("histories of a shared journal: leaders killed, stopped, cut off", FAULTS, "faults")
def test_what_was_acknowledged_has_one_order_and_leaders_take_turns(
    postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    rng = random.Random(SEED)
    make(postgres_url)
    with closing(open_requests(postgres_url)) as requests:
        requests.ask(RunOpened(0.0, "r"))
    lines: list[CutLine] = []
    leaders: list[Writer] = []
    reads: list[Read] = []

    def stand_by() -> Writer:
        line = CutLine(postgres_server.directory)
        lines.append(line)
        url = postgres_url.replace(f"host={postgres_server.directory}", f"host={line.directory}")
        leaders.append(Writer(LEADER, url, str(tmp_path / str(len(leaders))), f"leader-{len(leaders)}"))
        return leaders[-1]

    leader = stand_by()
    leader.wait_said("leading")
    submitters = [Writer(SUBMITTER, postgres_url, f"submitter-{n}") for n in range(SUBMITTERS)]
    waiting = [stand_by(), stand_by()]
    try:
        for fault in range(FAULTS):
            for each in waiting:
                each.wait_said("standing by")
            leader.wait_said("acknowledged", rng.randrange(3, 30))
            line = lines[leaders.index(leader)]
            match fault % 3:
                case 0:
                    line.cut()
                case 1:
                    leader.send(signal.SIGSTOP)
                case 2:
                    leader.send(signal.SIGKILL)
            former = leader
            leader = first_to_lead(waiting)
            waiting = [*(each for each in waiting if each is not leader), stand_by()]
            began = time.monotonic()
            reads.append(Read(read_all(postgres_url)[1], began, time.monotonic()))
            if fault % 3 < 2:
                line.rejoin()
                former.send(signal.SIGCONT)
                assert former.wait_ended() == 75, "it has lost the lead, and must know it"
        writes_asked = [write for each in submitters for write in each.end()]
        asked = sum(write.acknowledged < float("inf") for write in writes_asked)
        wait_until(lambda: len(read_all(postgres_url)[0]) >= asked, "every request in the journal", PATIENCE_S)
    finally:
        for each in submitters:
            each.end()
        written = [write for each in leaders for write in each.end()]
        for one in lines:
            one.close()
    requests_log, leaders_log = read_all(postgres_url)
    assert faults_of(requests_log, writes_asked) == []
    assert faults_of(leaders_log, written, reads) == []
    turns = blocks_of(leaders_log)
    assert len(turns) == len({*turns}) == FAULTS + 1, f"leaders did not take turns: {turns}"
    assert asked > FAULTS


def test_the_checker_finds_what_no_order_explains() -> None:
    a, b, lost = Write("a", 0.0, 1.0), Write("b", 2.0, 3.0), Write("lost", 2.0)
    assert faults_of(["a", "b"], [a, b, lost]) == []
    assert faults_of(["a", "lost", "b"], [a, b, lost]) == []
    assert faults_of(["b", "a"], [a, b]) == ["`a` was acknowledged before `b` began, and comes after it"]
    assert faults_of(["a"], [a, b]) == ["`b` was acknowledged and is not there"]
    assert faults_of(["a", "a", "b"], [a, b]) == ["`a` is there 2 times"]
    assert faults_of(["a", "c"], [a]) == ["`c` is there, and nobody wrote it"]
    together = Write("b", 0.5, 3.0)
    assert faults_of(["b", "a"], [a, together]) == []


def test_the_checker_finds_reads_that_no_order_explains() -> None:
    a, b = Write("a", 0.0, 1.0), Write("b", 2.0, 3.0)
    assert faults_of(["a", "b"], [a, b], [Read(["a"], 1.5, 2.5), Read(["a", "b"], 2.5, 2.6)]) == []
    assert faults_of(["a", "b"], [a, b], [Read(["b"], 4.0, 5.0)])[0].endswith("not the beginning of the log")
    assert faults_of(["a", "b"], [a, b], [Read(["a"], 3.5, 4.0)])[0].startswith("a read missed `b`")
    assert faults_of(["a", "b"], [a, b], [Read(["a", "b"], 1.0, 1.5)])[0].startswith("a read saw `b` before")
    backwards = [Read(["a", "b"], 2.1, 2.2), Read(["a"], 2.3, 2.4)]
    assert faults_of(["a", "b"], [a, b], backwards) == [
        "a read saw 1 entries, and one that ended before it began saw 2"
    ]
    assert blocks_of(["one:1", "one:2", "two:1", "one:3"]) == ["one", "two", "one"]
