"""Model workers on a cluster that come with the work and go without it, by the policy of their host."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hosts.ray_host.ray_stage import RayCluster
from llama_server import cached_model
from manyhands.assembly import open_session
from manyhands.core.events import RunOpened, TasksSubmitted, WorkersMoved
from manyhands.core.values.task import Task, TaskState
from manyhands.hosts.executors import process_table
from manyhands.sources.config.config_reading import load_config

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]

PATIENCE_S = 240.0
#: Always the same few words: of one drawn at random the tiny model may make nothing.
BRIEF = {"max_tokens": 4, "temperature": 0}
SCALED = """
[models.m]
path = "{model}"
context = 512
[hosts.far]
type = "ray"
address = "{address}"
models = ["m"]
width = 6
[hosts.far.scaling]
max = 3
drain = "1s"
idle = "1s"
settle = "1s"
"""


async def test_workers_come_with_the_work_and_go_without_it_but_never_under_an_attempt(
    cluster: RayCluster, tmp_path: Path
) -> None:
    """Tasks are computed at once and then held by their checks: a backlog that costs nothing, for as long as wanted."""
    (tmp_path / "manyhands.toml").write_text(SCALED.format(model=cached_model(), address=cluster.address))
    moves: list[WorkersMoved] = []
    holds = {f"t{n}": ("sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', "go") for n in range(6)}
    # From one that ends, and others that do not, it is known how fast a worker is at most.
    holds |= {"t0": ("true",), "t5": ("sh", "-c", "until [ -e last ]; do sleep 0.1; done")}
    tasks = tuple(Task(name, prompt="hello", args=BRIEF, check=check) for name, check in holds.items())
    async with open_session(load_config(tmp_path, environ={})) as dispatcher:
        dispatcher.recorded.append(lambda batch: moves.extend(one for one in batch if isinstance(one, WorkersMoved)))
        now = dispatcher.clock.now()
        await dispatcher.submit(RunOpened(now, "r"), TasksSubmitted(now, "r", tasks))
        await until(lambda: len(workers_of(tmp_path)) == 2, moves)  # there are two GPUs
        await until(lambda: '"resourcesBundle":{"GPU":1.0}' in cluster.demand(), moves)
        [driver] = [one for one in psutil.Process().children() if "manyhands.hosts.ray.driver" in one.cmdline()]
        driver.kill()  # the next one finds the workers, and what they have
        (tmp_path / "go").touch()
        await until(lambda: len(workers_of(tmp_path)) == 1, moves)
        (tmp_path / "last").touch()
        await until(lambda: not workers_of(tmp_path), moves)
        records = dispatcher.book.runs["r"].records
        assert [(one.state, len(one.history or ())) for one in records.values()] == [(TaskState.DONE, 1)] * 6
        assert dispatcher.book.hosts["far"].workers == 0
    counts = [move.workers for move in moves if move.workers != move.was]  # that the driver was gone is told, too
    assert counts[:2] == [1, 3]
    assert counts[2:] in ([1, 0], [2, 1, 0])  # whether it looks between the ends of those that go together
    assert moves[1].reason.startswith("at most 3; ")
    assert moves[-1].reason == "nothing to do for 1 s"


def workers_of(directory: Path) -> list[int]:
    return [p.pid for p in process_table.processes() if str(directory / "manyhands.toml") in _command_of(p.pid)]


def _command_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


async def until(holds: Callable[[], bool], moves: list[WorkersMoved]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up_at, moves
        await asyncio.sleep(0.1)
