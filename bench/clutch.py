"""How near does the clutch come to the best fixed width, on hosts it does not know?

Simulated hosts under virtual time: the figures are fractions, not speeds of this machine. Every limit gets the same
tasks for a seed; the best fixed width is found by sweeping. `--quick` for a short look. `--sensitivity` instead
changes each constant of the clutch by a quarter, and writes what that does into the table of docs/clutch.md.
"""

import argparse
import ast
import importlib
import math
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from statistics import mean
from types import ModuleType

import msgspec
from record import record

from manyhands.core.clutch import clutch
from manyhands.core.clutch.clutch import Clutch
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Limit
from manyhands.engine.sim.hosts.random_hosts import random_host
from manyhands.engine.sim.hosts.reference import DRIFTING, REFERENCE, HostModel
from manyhands.engine.sim.limit_score import BestWidth, LimitScore, best_fixed, drive, memory_of_a_run, score
from manyhands.engine.sim.rival_limits.aimd import Aimd
from manyhands.engine.sim.rival_limits.gradient2 import Gradient2
from manyhands.engine.sim.rival_limits.inspect_rule import InspectRule
from manyhands.engine.sim.rival_limits.vegas import Vegas


def cold(model: HostModel, seed: int) -> Limit:
    return Clutch.begin(width_max=model.width_max, nature=model.nature)


def remembering(model: HostModel, seed: int, factor: float = 1.0, black_box: bool = False) -> Limit:
    """With the memory of a real run on other tasks, or with that memory wrong by a factor."""
    memory = memory_of_a_run(model, seed, black_box)
    return begun_with(model, memory and wrong(memory, factor))


def wrong(memory: HostMemory, factor: float) -> HostMemory:
    promised = None if memory.log_throughput is None else memory.log_throughput + math.log(factor)
    rate_per_s = None if memory.rate_per_s is None else memory.rate_per_s * factor
    return msgspec.structs.replace(
        memory,
        width=memory.width * factor,
        log_throughput=promised,
        rate_per_s=rate_per_s,
        burst=memory.burst * factor,
    )


def classic(kind: type, model: HostModel, seed: int) -> Limit:
    limit: Limit = kind(width_max=model.width_max)
    return limit


#: what is measured → (how the limit is made, whether it sees the host's gauges)
VARIANTS: dict[str, tuple[Callable[[HostModel, int], Limit], bool]] = {
    "clutch, cold": (cold, False),
    "clutch, memory of one run": (remembering, False),
    "clutch, memory 4 × too wide": (partial(remembering, factor=4.0), False),
    "clutch, memory 4 × too narrow": (partial(remembering, factor=0.25), False),
    "clutch, cold, no gauges": (cold, True),
    "clutch, memory, no gauges": (partial(remembering, black_box=True), True),
    "AIMD (Netflix)": (partial(classic, Aimd), False),
    "Vegas (Netflix)": (partial(classic, Vegas), False),
    "Gradient2 (Netflix)": (partial(classic, Gradient2), False),
    "Inspect AI's rule": (partial(classic, InspectRule), False),
}


def best_of(job: tuple[HostModel, int, int | None]) -> BestWidth:
    model, seeds, tasks = job
    return best_fixed(model, range(seeds), tasks)


def score_of(job: tuple[str, HostModel, int, BestWidth, int | None]) -> LimitScore:
    name, model, seeds, best, tasks = job
    make, black_box = VARIANTS[name]
    return score(model, make, range(seeds), best, tasks, black_box)


def reference_hosts(pool: ProcessPoolExecutor, seeds: int) -> None:
    bests = list(pool.map(best_of, [(model, seeds, None) for model in REFERENCE]))
    print(f"\ngoodput as a fraction of the best fixed width, {seeds} seeds; o overloads, k kills, per run")
    print(f"{'':30}" + "".join(f"{model.name:>24}" for model in REFERENCE) + f"{'mean':>8}")
    print(f"{'best fixed width':30}" + "".join(f"{best.width:>24}" for best in bests))
    jobs = [(name, model, seeds, best, None) for name in VARIANTS for model, best in zip(REFERENCE, bests, strict=True)]
    scores = list(pool.map(score_of, jobs))
    for row, name in enumerate(VARIANTS):
        of = scores[row * len(REFERENCE) : (row + 1) * len(REFERENCE)]
        cells = "".join(
            f"{f'{each.fraction:.3f} ({each.worst:.2f}) o{each.overloads:.0f} k{each.kills:.1f}':>24}" for each in of
        )
        print(f"{name:30}{cells}{mean(each.fraction for each in of):8.3f}")
        for each in of:
            params = {"limit": name, "host": each.host, "seeds": seeds, "simulated": True}
            record("clutch", params, each.fraction, "of the best fixed width")


def random_hosts(pool: ProcessPoolExecutor, hosts: int, seeds: int) -> None:
    models = [random_host(seed) for seed in range(hosts)]
    bests = list(pool.map(best_of, [(model, seeds, None) for model in models]))
    print(f"\n{hosts} random hosts, {seeds} seeds each")
    print(f"{'':30}{'mean':>8}{'p10':>8}{'worst':>8}{'429s at most':>14}{'kills':>8}")
    for name in (
        "clutch, cold",
        "clutch, memory of one run",
        "AIMD (Netflix)",
        "Gradient2 (Netflix)",
        "Inspect AI's rule",
    ):
        jobs = [(name, model, seeds, best, None) for model, best in zip(models, bests, strict=True)]
        scores = sorted(pool.map(score_of, jobs), key=lambda each: each.fraction)
        fractions = [each.fraction for each in scores]
        tenth = fractions[len(fractions) // 10]
        refused, kills = max(each.refused for each in scores), mean(each.kills for each in scores)
        print(f"{name:30}{mean(fractions):8.3f}{tenth:8.3f}{fractions[0]:8.3f}{refused:14.2%}{kills:8.2f}")
        for what, value in (("mean", mean(fractions)), ("p10", tenth), ("worst", fractions[0])):
            params = {"limit": name, "hosts": hosts, "seeds": seeds, "what": what, "simulated": True}
            record("clutch_random_hosts", params, value, "of the best fixed width")


def short_backlogs(pool: ProcessPoolExecutor, seeds: int) -> None:
    models = [model for model in REFERENCE if model is not DRIFTING]
    print(f"\nshort backlogs: the best fixed width's makespan over the clutch's, {seeds} seeds")
    print(f"{'':30}" + "".join(f"{model.name:>12}" for model in models))
    for tasks in (60, 300):
        bests = list(pool.map(best_of, [(model, seeds, tasks) for model in models]))
        for name in ("clutch, cold", "clutch, memory of one run"):
            jobs = [(name, model, seeds, best, tasks) for model, best in zip(models, bests, strict=True)]
            scores = list(pool.map(score_of, jobs))
            print(f"{f'{tasks} tasks, {name}':38}" + "  ".join(f"{each.fraction:10.3f}" for each in scores))
            for each in scores:
                params = {"limit": name, "host": each.host, "tasks": tasks, "seeds": seeds, "simulated": True}
                record("clutch_short_backlogs", params, each.fraction, "of the best fixed width's makespan")


#: The modules of the clutch, whose constants are tried.
PARTS = sorted(file.stem for file in Path(str(clutch.__file__)).parent.glob("*.py") if file.stem != "__init__")
DOCS = Path(__file__).parents[1] / "docs" / "clutch.md"
HEAD = (
    "| constant | value | reference, −25 % | +25 % | random, −25 % | +25 % | remembered, −25 % | +25 % "
    "| most on one host |"
)
#: Few and short enough for all constants in six minutes of CPU.
RANDOM_HOSTS = 4  # one of each family
CHANGES = (0.75, 1.25)


def parts() -> list[ModuleType]:
    return [importlib.import_module(f"manyhands.core.clutch.{name}") for name in PARTS]


def constants() -> list[tuple[str, str]]:
    """(module, constant) of every number that a module of the clutch sets at its top."""
    found: list[tuple[str, str]] = []
    for name, module in zip(PARTS, parts(), strict=True):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        found += [(name, each) for each in names if isinstance(getattr(module, each), int | float)]
    return found


@contextmanager
def changed(part: str, constant: str, factor: float) -> Iterator[None]:
    """The constant times a factor, wherever it was imported; whole numbers stay whole and move by one at least."""
    home = importlib.import_module(f"manyhands.core.clutch.{part}")
    value = getattr(home, constant)
    moved = value * factor
    if isinstance(value, int):
        moved = max(1, round(moved)) if round(moved) != value else value + (1 if factor > 1 else -1)
    where = [each for each in parts() if each is home or getattr(each, constant, None) is value]
    for each in where:
        setattr(each, constant, moved)
    try:
        yield
    finally:
        for each in where:
            setattr(each, constant, value)


def goodputs(job: tuple[str, str, float]) -> list[list[float]]:
    """On each host of each group; a change of one in the first place is none."""
    part, constant, factor = job
    memories = remembered()  # of runs with the constants as they are
    with changed(part, constant, factor):
        cold_ones = [[drive(model, cold(model, 0), seed=1).goodput for model in models] for models in measured_hosts()]
        return [*cold_ones, [drive(model, begun_with(model, memory), seed=1).goodput for model, memory in memories]]


def measured_hosts() -> tuple[list[HostModel], list[HostModel]]:
    """The reference hosts and some random ones. One that drifts keeps its whole time: it drifts late."""
    reference = [model if model is DRIFTING else _halved(model) for model in REFERENCE]
    return reference, [_halved(random_host(seed)) for seed in range(RANDOM_HOSTS)]


@cache
def remembered() -> list[tuple[HostModel, HostMemory | None]]:
    """The reference hosts with the memory of a run, and with that memory four times too wide."""
    found = [(_halved(model), memory_of_a_run(model, 0)) for model in REFERENCE]
    return [*found, *((model, memory and wrong(memory, 4.0)) for model, memory in found)]


def begun_with(model: HostModel, memory: HostMemory | None) -> Limit:
    return Clutch.begin(width_max=model.width_max, nature=model.nature, memory=memory)


def _halved(model: HostModel) -> HostModel:
    return msgspec.structs.replace(model, seconds=model.seconds / 2)


def sensitivity(pool: ProcessPoolExecutor) -> Iterator[str]:
    """The rows of the table."""
    names = constants()
    jobs = [(part, constant, factor) for part, constant in names for factor in CHANGES]
    scores = pool.map(goodputs, [("clutch", "WIDTH_MAX", 1.0), *jobs])
    usual = next(scores)
    for part, constant in names:
        home = importlib.import_module(f"manyhands.core.clutch.{part}")
        less, more = (_gains(usual, next(scores)) for _ in CHANGES)
        cells = [mean(gains) for pair in zip(less, more, strict=True) for gains in pair]
        most = max((gain for gains in (*less, *more) for gain in gains), key=abs)
        row = " | ".join(f"{cell:+.1%}" for cell in (*cells, most))
        yield f"| `{part}.{constant}` | {getattr(home, constant):g} | {row} |"


def _gains(usual: list[list[float]], after: list[list[float]]) -> list[list[float]]:
    groups = zip(usual, after, strict=True)
    return [[new / old - 1 for old, new in zip(was, now, strict=True)] for was, now in groups]


def write_table(rows: list[str]) -> None:
    """The table is the last thing on its page."""
    text, found, _ = DOCS.read_text().partition(HEAD)
    if not found:
        raise SystemExit(f"{DOCS} has no table that begins with: {HEAD}")
    DOCS.write_text("\n".join([text + HEAD, "|---|---|---|---|---|---|---|---|---|", *rows]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 seeds and 12 random hosts")
    parser.add_argument("--sensitivity", action="store_true", help="what each constant does, about six minutes")
    asked = parser.parse_args()
    quick = asked.quick
    with ProcessPoolExecutor() as pool:
        if asked.sensitivity:
            write_table(list(sensitivity(pool)))
            return
        reference_hosts(pool, 3 if quick else 20)
        random_hosts(pool, 12 if quick else 60, 1 if quick else 2)
        short_backlogs(pool, 3 if quick else 10)


if __name__ == "__main__":
    sys.exit(main())
