"""How near does a short backlog come to the best fixed width, through the whole scheduler, on hosts nobody knows?

Simulated hosts under virtual time, with lanes, difficulty and placement as they run live. Each figure is the time at
the best fixed width, found by sweeping for the same tasks, divided by ours. Runs are cold, then repeated twice with
what the run before has taught. `--quick` for a short look.
"""

import argparse
import math
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from random import Random
from statistics import mean

from msgspec import Struct
from record import record

from manyhands.core.commands import StartAttempt
from manyhands.core.events import AnyEvent, AttemptEnded, HostsConfigured, RunOpened, TasksSubmitted
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.host import Host, Width
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.random_hosts import random_agents, random_host
from manyhands.engine.sim.hosts.reference import (
    AGENTS_CLOSED,
    AGENTS_ENDED,
    AGENTS_OPEN,
    API,
    BATCHING,
    PROCESSES,
    SLOTS,
    HostModel,
    build,
)
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.scenario import a_task
from manyhands.engine.sim.simulation import Simulation

SIZES = (8, 15, 30, 60, 300)
RUNS = 3
WIDTHS = (1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128)
FAMILIES = ("batching", "api", "processes", "slots", "agents", "agents-ended", "agents-closed")


class Played(Struct, frozen=True):
    seconds: float  # infinite where a task was given up: that is no way to be fast
    overloads: float  # per attempt
    kills: int


def play(model: HostModel, tasks: int, seed: int, width: int | None = None, runs: int = 1) -> list[Played]:
    """So many runs one after the other on one host, each with tasks of its own."""
    host = build(model.parameters)
    jobs: dict[str, Job] = {}
    ended: list[EndingKind] = []

    def job_for(order: StartAttempt) -> Job:
        return jobs[f"{order.run}/{order.task.id}"]

    def watch(event: AnyEvent) -> None:
        if isinstance(event, AttemptEnded):
            ended.append(event.ending.kind)

    simulation = Simulation(Scheduler(), {"h": host}, job_for, watch)
    widths = Width(1, None, model.width_max) if width is None else Width(width, width, width)
    played: list[Played] = []
    for number in range(runs):
        random = Random(seed * 1009 + number)
        name, at, kills = f"run-{number}", simulation.now + 600.0 * bool(number), host.kills
        drawn = {f"t{n}": host.draw(random) for n in range(tasks)}
        jobs |= {f"{name}/{id}": job for id, job in drawn.items()}
        ended.clear()
        simulation.expect(HostsConfigured(at, (Host("h", width=widths, nature=model.nature),)))
        simulation.expect(RunOpened(at, name, seed))
        simulation.expect(TasksSubmitted(at, name, tuple(a_task(id, job) for id, job in drawn.items())))
        simulation.run()
        run = simulation.scheduler.book.runs[name]
        seconds = (run.ended_at or simulation.now) - at if run.counts[TaskState.DONE] == tasks else math.inf
        overloads = sum(kind is EndingKind.OVERLOADED for kind in ended) / len(ended)
        played.append(Played(seconds, overloads, host.kills - kills))
    return played


def compare(job: tuple[HostModel, int, int]) -> list[tuple[float, float, int]]:
    """(pace of the best fixed width, overloads per attempt, kills) of each run."""
    model, tasks, seed = job
    widths = [width for width in WIDTHS if width <= min(1.5 * tasks, model.width_max)]
    fixed = [play(model, tasks, seed, width, RUNS) for width in widths]
    best = [min(each[number].seconds for each in fixed) for number in range(RUNS)]
    ours = play(model, tasks, seed, None, RUNS)
    return [(min(1.0, best[n] / ours[n].seconds), ours[n].overloads, ours[n].kills) for n in range(RUNS)]


def hosts_of(family: str, count: int) -> Iterable[HostModel]:
    """The reference host of the family, and others drawn from wide ranges."""
    if family == "agents":
        return [AGENTS_OPEN, *(random_agents(n) for n in range(count))]
    if family == "agents-ended":
        return [AGENTS_ENDED, *(random_agents(n, sessions_end=True) for n in range(count))]
    if family == "agents-closed":
        return [AGENTS_CLOSED, *(random_agents(n, closes=True) for n in range(count))]
    reference = {"batching": BATCHING, "api": API, "processes": PROCESSES, "slots": SLOTS}
    return [reference[family], *(random_host(4 * n + FAMILIES.index(family)) for n in range(count))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--families", default=",".join(FAMILIES))
    wanted = parser.parse_args()
    hosts, seeds = (3, 2) if wanted.quick else (15, 4)
    print(
        "pace of the best fixed width, mean / p10: cold, second run, third run; overloads per attempt and kills, cold"
    )
    with ProcessPoolExecutor() as pool:
        for family in wanted.families.split(","):
            for tasks in map(int, wanted.sizes.split(",")):
                jobs = [(model, tasks, seed) for model in hosts_of(family, hosts) for seed in range(seeds)]
                found = list(pool.map(compare, jobs))
                cells = []
                for number in range(RUNS):
                    paces = sorted(each[number][0] for each in found)
                    cells.append(f"{mean(paces):.3f} / {paces[len(paces) // 10]:.3f}")
                    parameters = {
                        "family": family,
                        "tasks": tasks,
                        "run": number + 1,
                        "hosts": hosts + 1,
                        "seeds": seeds,
                    }
                    record("short_backlogs", parameters, mean(paces), "of the best fixed width")
                    record(
                        "short_backlogs",
                        parameters | {"what": "p10"},
                        paces[len(paces) // 10],
                        "of the best fixed width",
                    )
                overloads, kills = mean(each[0][1] for each in found), max(each[0][2] for each in found)
                record(
                    "short_backlogs", {"family": family, "tasks": tasks, "what": "overloads"}, overloads, "per attempt"
                )
                print(f"{family:13} {tasks:4}  {'   '.join(cells)}   {overloads:.3f} {kills}", flush=True)


if __name__ == "__main__":
    main()
