"""How near the clutch comes to the best fixed width: a seeded slice of what bench/clutch.py measures in full.

Bands, not points: a bound stands a little below what was measured over many seeds, so that a worse algorithm fails
and an equally good one does not.
"""

import bisect
import math
import time
from collections.abc import Sequence
from statistics import mean

import msgspec
import pytest

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Limit
from manyhands.engine.sim.drive import Drive
from manyhands.engine.sim.hosts.outage_host import OutageHost
from manyhands.engine.sim.hosts.random_hosts import random_host
from manyhands.engine.sim.hosts.reference import API, BATCHING, DRIFTING, PROCESSES, REFERENCE, SLOTS, HostModel, build
from manyhands.engine.sim.limit_score import BestWidth, best_fixed, drive, memory_of_a_run, score, worth
from manyhands.engine.sim.rival_limits.aimd import Aimd
from manyhands.engine.sim.rival_limits.gradient2 import Gradient2
from manyhands.engine.sim.rival_limits.inspect_rule import InspectRule
from manyhands.engine.sim.rival_limits.vegas import Vegas

SEEDS = (0, 1, 2)
#: As bench/clutch.py finds them by sweeping; test_the_reference_widths_are_the_best_ones looks beside them.
BEST_WIDTH = {"batching": 60, "api": 34, "processes": 8, "drifting": 60, "slots": 16}
BY_NAME = pytest.mark.parametrize("model", REFERENCE, ids=lambda model: model.name)


def fixed(model: HostModel, width: int) -> float:
    return mean(drive(model, Fixed(width), seed).goodput for seed in SEEDS)


def best(model: HostModel, seeds: Sequence[int] = SEEDS) -> BestWidth:
    width = BEST_WIDTH[model.name]
    return BestWidth(width, {seed: drive(model, Fixed(width), seed).goodput for seed in seeds})


def cold(model: HostModel, seed: int) -> Clutch:
    return Clutch.begin(width_max=model.width_max, nature=model.nature)


def warm(model: HostModel, seed: int) -> Clutch:
    return Clutch.begin(width_max=model.width_max, nature=model.nature, memory=memory_of_a_run(model, seed))


def misled(memory: HostMemory | None, factor: float) -> HostMemory | None:
    if memory is None or memory.log_throughput is None:
        return memory
    return msgspec.structs.replace(
        memory,
        width=memory.width * factor,
        log_throughput=memory.log_throughput + math.log(factor),
        rate_per_s=None if memory.rate_per_s is None else memory.rate_per_s * factor,
        burst=memory.burst * factor,
    )


@BY_NAME
def test_the_reference_widths_are_the_best_ones(model: HostModel) -> None:
    width = BEST_WIDTH[model.name]
    here = fixed(model, width)
    assert here >= 0.99 * fixed(model, round(width * 0.85))
    assert here >= 0.99 * fixed(model, round(width * 1.2))


@BY_NAME
def test_cold_it_comes_near_the_best_fixed_width(model: HostModel) -> None:
    reached = score(model, cold, SEEDS, best(model))
    assert reached.fraction >= 0.94
    assert reached.refused <= 0.015
    assert reached.kills <= 1


@BY_NAME
def test_with_the_memory_of_one_run_it_comes_nearer(model: HostModel) -> None:
    reached = score(model, warm, SEEDS, best(model))
    assert reached.fraction >= 0.95
    assert reached.refused <= 0.015
    assert reached.kills <= 1


@BY_NAME
@pytest.mark.parametrize("factor", [4.0, 0.25])
def test_a_wrong_memory_costs_at_most_a_tenth(model: HostModel, factor: float) -> None:
    def make(model: HostModel, seed: int) -> Limit:
        return Clutch.begin(
            width_max=model.width_max, nature=model.nature, memory=misled(memory_of_a_run(model, seed), factor)
        )

    # One run of processes has few ends, and a seed alone moves its figure by a third.
    seeds = tuple(range(8)) if model is PROCESSES else SEEDS[:2]
    assert score(model, make, seeds, best(model, seeds)).fraction >= 0.90


def test_it_is_ahead_of_the_classics_and_never_the_worst() -> None:
    classics = (Aimd, Vegas, Gradient2, InspectRule)
    of: dict[type, list[float]] = {}
    for model in REFERENCE:
        of.setdefault(Clutch, []).append(drive(model, cold(model, 0), 0).goodput)
        for kind in classics:
            of.setdefault(kind, []).append(drive(model, kind(width_max=model.width_max), 0).goodput)
    for kind in classics:
        relative = [theirs / ours for theirs, ours in zip(of[kind], of[Clutch], strict=True)]
        assert mean(relative) < 0.95, f"{kind.__name__} reaches {mean(relative):.2f} of the clutch"
    for index, model in enumerate(REFERENCE):
        assert of[Clutch][index] > min(of[kind][index] for kind in classics), model.name


def test_without_gauges_it_still_finds_the_knee() -> None:
    black_box = [score(model, cold, SEEDS[:2], best(model), black_box=True).fraction for model in REFERENCE]
    assert min(black_box) >= 0.90
    assert mean(black_box) >= 0.95


def test_hosts_nobody_tuned_for() -> None:
    fractions = []
    for number in (3, 4, *range(100, 108)):  # 3 and 4 stream, and nothing else shows their queue
        model = random_host(number)
        swept = best_fixed(model, [0])
        fractions.append(worth(drive(model, cold(model, 0), 0), None) / swept.worth[0])
    assert mean(fractions) >= 0.95
    assert min(fractions) >= 0.85


@pytest.mark.parametrize("tasks", [60, 300])
@pytest.mark.parametrize("model", [BATCHING, API, PROCESSES, SLOTS], ids=lambda model: model.name)
def test_with_memory_a_short_backlog_takes_little_longer_than_at_the_best_width(model: HostModel, tasks: int) -> None:
    swept = best_fixed(model, SEEDS, tasks)
    assert score(model, warm, SEEDS, swept, tasks).fraction >= 0.88


def test_the_width_follows_when_capacity_halves_and_comes_back() -> None:
    outcome = Drive(build(DRIFTING.parameters), Clutch.begin(), 0, DRIFTING.seconds, trace=True).run()
    moved_at = [at for at, _, _ in outcome.moves]

    def width_after(at: float, completions: int) -> int:
        when = outcome.done_at[bisect.bisect(outcome.done_at, at) + completions]
        return outcome.moves[bisect.bisect_right(moved_at, when) - 1][1]

    assert width_after(900, -1) >= 50
    assert width_after(900, 20) <= 40  # 31 is the best at half the capacity
    assert width_after(1800, 400) >= 45


def test_a_host_that_dies_and_returns_is_used_again() -> None:
    host = OutageHost(build(SLOTS.parameters), ((600.0, 900.0),))
    outcome = Drive(host, Clutch.begin(), 1, 1800, trace=True).run()
    before = bisect.bisect(outcome.done_at, 600) - bisect.bisect(outcome.done_at, 300)
    after = len(outcome.done_at) - bisect.bisect(outcome.done_at, 1500)
    assert not [at for at in outcome.done_at if 605 < at < 900]
    assert after >= 0.85 * before


def test_the_same_seed_gives_the_same_moves() -> None:
    first, second = (Drive(build(API.parameters), Clutch.begin(), 5, 600, trace=True).run().moves for _ in range(2))
    assert first == second


def test_ten_thousand_tasks_take_little_time() -> None:
    began = time.process_time()
    outcome = Drive(build(BATCHING.parameters), Clutch.begin(), 1, tasks=10_000).run()
    assert outcome.done == 10_000
    assert time.process_time() - began < 3.0  # measured 0.6 s; the rest is for slower machines
