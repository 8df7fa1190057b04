"""How near does a short backlog come to the best fixed width, through the whole scheduler, on hosts nobody knows?

Simulated hosts under virtual time, with lanes, difficulty and placement as they run live. Each figure is the time at
the best fixed width, found by sweeping for the same tasks, divided by ours. The cases are: nothing known (`cold`), the
second and third run on the same host, and the first run of these tasks with a memory of other kinds on this host, or of
another model under its name. `--best FILE` keeps what the sweeps found, which no change of the clutch can alter.
"""

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import msgspec
from record import record

from manyhands.engine.sim.backlog_trial import BacklogRun, best_fixed_s, play
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
)

SIZES = (8, 15, 30, 60, 300)
FAMILIES = ("batching", "api", "processes", "slots", "agents", "agents-ended", "agents-closed")
CASES = ("cold", "run 2", "run 3", "other kinds", "other model")
#: After the first loss so many seconds count as the same burst: what was already under way could not be called back.
BURST_S = 60.0


class Cell(NamedTuple):
    model: HostModel
    other: HostModel
    tasks: int
    seed: int
    again: bool  # also play the cases with memory


class Outcome(NamedTuple):
    pace: float  # of the best fixed width
    overloads: float  # per attempt
    kills: int
    later: float  # overloads after the first burst, per attempt


class Found(NamedTuple):
    outcomes: dict[str, Outcome]
    best_s: dict[str, float]


KNOWN_S: dict[str, float] = {}  # what earlier sweeps found


def key_of(backlog: BacklogRun) -> str:
    drawn = (backlog.model.parameters, backlog.model.width_max, backlog.tasks, backlog.seed, backlog.number)
    return f"{backlog.model.name}/{backlog.tasks}/{sha256(msgspec.json.encode(drawn)).hexdigest()[:12]}"


def compare(cell: Cell) -> Found:
    model, other, tasks, seed, again = cell
    runs = [BacklogRun(model, tasks, seed, number) for number in range(3 if again else 1)]
    best_s = {key_of(run): KNOWN_S.get(key_of(run)) or best_fixed_s(run)[0] for run in runs}
    played = dict(zip(CASES, zip(runs, play(runs), strict=True), strict=False))
    if again:
        elsewhere = {
            "other kinds": BacklogRun(model, tasks, seed, of_other_kinds=True),
            "other model": BacklogRun(other, tasks, seed),
        }
        played |= {case: (runs[1], play([first, runs[1]])[1]) for case, first in elsewhere.items()}
    outcomes = {}
    for case, (run, ours) in played.items():
        first_at = ours.lost_at[0] if ours.lost_at else 0.0
        later = sum(at > first_at + BURST_S for at in ours.lost_at) / max(1, ours.attempts)
        pace = min(1.0, best_s[key_of(run)] / ours.seconds) if ours.seconds < math.inf else 0.0
        outcomes[case] = Outcome(pace, ours.overloads, ours.kills, later)
    return Found(outcomes, best_s)


def hosts_of(family: str, count: int) -> list[HostModel]:
    """The reference host of the family, and others drawn from wide ranges."""
    if family == "agents":
        return [AGENTS_OPEN, *(random_agents(n) for n in range(count))]
    if family == "agents-ended":
        return [AGENTS_ENDED, *(random_agents(n, sessions_end=True) for n in range(count))]
    if family == "agents-closed":
        return [AGENTS_CLOSED, *(random_agents(n, closes=True) for n in range(count))]
    reference = {"batching": BATCHING, "api": API, "processes": PROCESSES, "slots": SLOTS}
    return [reference[family], *(random_host(4 * n + FAMILIES.index(family)) for n in range(count))]


def cells_of(family: str, tasks: int, hosts: int, seeds: Iterable[int], memory_seeds: int) -> Iterator[Cell]:
    models = hosts_of(family, hosts)
    for place, model in enumerate(models):
        for number, seed in enumerate(seeds):
            yield Cell(model, models[place - 1], tasks, seed, number < memory_seeds)


def tell(family: str, tasks: int, found: list[Found], parameters: dict[str, object]) -> None:
    told = []
    for case in CASES:
        outcomes = [each.outcomes[case] for each in found if case in each.outcomes]
        if not outcomes:
            continue
        paces = sorted(each.pace for each in outcomes)
        figures = {
            "mean": mean(paces),
            "p10": paces[len(paces) // 10],
            "overloads": mean(each.overloads for each in outcomes),
            "repeated": mean(each.later for each in outcomes),
            "kills": float(max(each.kills for each in outcomes)),
        }
        for what, value in figures.items():
            unit = "of the best fixed width" if what in ("mean", "p10") else what
            if parameters:
                record("short_backlogs", parameters | {"case": case, "runs": len(paces), "what": what}, value, unit)
        told.append(
            f"{case} {figures['mean']:.3f}/{figures['p10']:.3f}"
            f" ({figures['overloads']:.1%} {figures['repeated']:.1%} {figures['kills']:.0f})"
        )
    print(f"{family:13} {tasks:4}  {'   '.join(told)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=15, help="random hosts of each family")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--memory-seeds", type=int, default=4, help="of these seeds, so many with memory too")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--best", type=Path, help="a file that keeps what the sweeps found")
    parser.add_argument("--record", action="store_true", help="for the README's table")
    parser.add_argument("--each", action="store_true", help="also print every host")
    wanted = parser.parse_args()
    if wanted.best is not None and wanted.best.exists():
        for line in wanted.best.read_text().splitlines():
            KNOWN_S.update(json.loads(line))
    print("pace of the best fixed width, mean/p10 (overloads per attempt, those after the first burst, most kills)")
    seeds = range(wanted.first_seed, wanted.first_seed + wanted.seeds)
    with ProcessPoolExecutor(wanted.processes) as pool:
        for family in wanted.families.split(","):
            for tasks in map(int, wanted.sizes.split(",")):
                cells = list(cells_of(family, tasks, wanted.hosts, seeds, wanted.memory_seeds))
                found = []
                for cell, each in zip(cells, pool.map(compare, cells), strict=True):
                    found.append(each)
                    if wanted.best is not None and (
                        fresh := {k: v for k, v in each.best_s.items() if k not in KNOWN_S}
                    ):
                        with wanted.best.open("a") as kept:
                            kept.write(json.dumps(fresh) + "\n")
                    if wanted.each:
                        paces = " ".join(f"{outcome.pace:.2f}" for outcome in each.outcomes.values())
                        print(f"  {cell.model.name} seed {cell.seed}: {paces}", flush=True)
                parameters = {"family": family, "tasks": tasks, "hosts": wanted.hosts + 1, "seeds": wanted.seeds}
                tell(family, tasks, found, parameters if wanted.record else {})


if __name__ == "__main__":
    main()
