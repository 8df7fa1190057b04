"""Real backlogs with the files their issues really touched: how near the makespan comes to what is possible at all."""

import json
from pathlib import Path
from zlib import crc32

import pytest

from helpers import a_host, a_task, writes
from manyhands.core import events as ev
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.task import Task
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.hosts.timed_host import TimedHost
from manyhands.engine.sim.simulation import Simulation

FOOTPRINTS = Path(__file__).parents[4] / "shared" / "data" / "beads" / "issue-files"
BACKLOGS = sorted(FOOTPRINTS.glob("*.json")) if FOOTPRINTS.is_dir() else []
WIDTHS = (4, 8, 16)
MIXES = 3

pytestmark = pytest.mark.skipif(not BACKLOGS, reason=f"no footprints at {FOOTPRINTS}")


def tasks_of(backlog: Path) -> tuple[Task, ...]:
    touched = {issue: about["files"] for issue, about in json.loads(backlog.read_text()).items()}
    return tuple(a_task(issue, claims=writes(*files)) for issue, files in touched.items() if files)


def makespan_and_bound(tasks: tuple[Task, ...], width: int, seconds_of: dict[str, float]) -> tuple[float, float]:
    """The bound: no schedule is shorter than all the work over all the slots, nor than the hottest file's turns."""
    scheduler = Scheduler()
    simulation = Simulation(
        scheduler, {"local": TimedHost()}, lambda order: Job("code", 1.0, seconds=seconds_of[order.task.id])
    )
    simulation.expect(ev.HostsConfigured(0.0, (a_host(width=width),)))
    simulation.expect(ev.RunOpened(0.0, "r"))
    simulation.expect(ev.TasksSubmitted(0.0, "r", tasks))
    makespan = simulation.run()
    assert scheduler.book.runs["r"].counts["done"] == len(tasks)
    assert scheduler.book.hosts["local"].peak <= width
    turns: dict[str, float] = {}
    for task in tasks:
        for file in task.claims.write if task.claims else ():
            turns[file] = turns.get(file, 0.0) + seconds_of[task.id]
    return makespan, max(sum(seconds_of.values()) / width, *turns.values())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("backlog", BACKLOGS, ids=lambda backlog: backlog.stem)
def test_with_equal_tasks_the_makespan_is_within_5_percent_of_the_lower_bound(backlog: Path, width: int) -> None:
    tasks = tasks_of(backlog)
    makespan, bound = makespan_and_bound(tasks, width, {task.id: 1.0 for task in tasks})
    assert bound <= makespan <= 1.05 * bound


def test_with_tasks_of_mixed_lengths_the_makespan_is_within_10_percent_on_average() -> None:
    ratios: list[float] = []
    for backlog in BACKLOGS:
        tasks = tasks_of(backlog)
        for width in WIDTHS:
            for mix in range(MIXES):
                seconds_of = {task.id: 1 + crc32(f"{mix}{task.id}".encode()) % 100 / 25 for task in tasks}
                makespan, bound = makespan_and_bound(tasks, width, seconds_of)
                print(f"{backlog.stem} width {width} mix {mix}: {makespan / bound:.3f}")
                assert makespan >= 0.999999 * bound
                ratios.append(makespan / bound)
    mean = sum(ratios) / len(ratios)
    print(f"mean {mean:.3f}, worst {max(ratios):.3f}")
    assert mean <= 1.10
