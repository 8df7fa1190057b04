"""Many agents, of which some are killed, and a dispatcher that is killed too: each task is done once, as recorded."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from e2e import puller_program
from manyhands.core.events import AttemptEnded, AttemptStarted
from manyhands.core.values.ending import EndingKind
from manyhands.engine.store.store_opening import open_reader
from manyhands.surfaces.api.token import token_of
from surfaces.cli.console import Console, wait_until

CONFIG = """
[hosts.agents]
type = "pull"
width = 50
lease = "4s"
[store]
durability = "crash"
"""


def serve(console: Console, port: int) -> subprocess.Popen[bytes]:
    live = console.start("serve", "--port", str(port))
    live.wait_for("action=serving")
    return live.process


def free_port() -> int:
    import socket

    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def endings(console: Console) -> tuple[Counter[str], Counter[EndingKind]]:
    """How often each task was done, and how attempts ended, as the journal has it."""
    task_of: dict[int, str] = {}
    done: Counter[str] = Counter()
    kinds: Counter[EndingKind] = Counter()
    with closing(open_reader(console.store)) as reader:
        for _, event in reader.read():
            if isinstance(event, AttemptStarted):
                task_of[event.attempt] = event.task
            elif isinstance(event, AttemptEnded):
                kinds[event.ending.kind] += 1
                if event.ending.kind is EndingKind.DONE:
                    done[task_of[event.attempt]] += 1
    return done, kinds


@pytest.mark.slow
@pytest.mark.campaign("agents that pull, 10 of 50 and the dispatcher killed", 1000, "tasks")
def test_each_task_is_done_once_though_agents_and_the_dispatcher_are_killed(console: Console) -> None:
    pullers, killed, tasks, restarts = (50, 10, 1000, 3) if os.environ.get("MANYHANDS_SOAK") else (5, 2, 40, 1)
    drawn = random.Random(7)
    console.config(CONFIG)
    port = free_port()
    dispatcher = serve(console, port)
    rows = [
        {"id": f"t{n}", "prompt": "x", "claims": {"write": [f"file-{drawn.randrange(tasks // 4)}"]}}
        for n in range(tasks)
    ]
    console.plan(rows)
    assert console.run("add", "plan.jsonl").code == 0
    held = console.directory / "held"
    held.mkdir()
    words = [f"http://127.0.0.1:{port}", token_of(console.store)]
    program = Path(puller_program.__file__)
    agents = [subprocess.Popen([sys.executable, program, *words, f"p{n}", held, "0.02"]) for n in range(pullers)]
    try:
        marks = sorted(drawn.sample(range(tasks // 10, tasks * 8 // 10), killed + restarts))
        for number, mark in enumerate(marks):
            wait_until(lambda mark=mark: sum(endings(console)[0].values()) >= mark, f"{mark} tasks that are done")
            if number % (len(marks) // restarts) == 1:
                os.kill(dispatcher.pid, signal.SIGKILL)
                dispatcher.wait()
                dispatcher = serve(console, port)
            else:
                victim = agents.pop(0)
                victim.kill()
                victim.wait()
        for one in agents:
            assert one.wait(600) == 0
    finally:
        for one in agents:
            one.kill()
    done, kinds = endings(console)
    assert done == Counter({row["id"]: 1 for row in rows})
    assert not (held / "overlaps").exists(), (held / "overlaps").read_text()
    assert kinds[EndingKind.FAILED] == 0
    states = Counter(str(record.state) for record in console.book().runs["added"].records.values())
    assert states == {"done": tasks}
