"""How good a limit is: its goodput as a fraction of the best fixed width's, found by sweeping."""

from collections.abc import Callable, Sequence
from statistics import mean

from msgspec import Struct

from manyhands.core.clutch.clutch import Clutch
from manyhands.core.clutch.fixed import Fixed
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Limit
from manyhands.engine.sim.drive import Drive, DriveOutcome
from manyhands.engine.sim.hosts.reference import HostModel, build

#: How many seeds decide which width is best on an endless backlog. Its goodput is then measured on all seeds.
SWEEP_SEEDS = 5
#: A sweep ends where goodput has fallen this far below the best.
FAR_PAST = 0.7

MakeLimit = Callable[[HostModel, int], Limit]  # for a host and a seed


class LimitScore(Struct, frozen=True):
    """One limit on one host over seeds."""

    host: str
    fraction: float  # of the best fixed width, mean
    worst: float  # the worst tenth begins here
    overloads: float  # per drive, as the following
    kills: float
    refused: float  # share of starts that got a 429
    mean_in_flight: float


class BestWidth(Struct, frozen=True):
    """The best fixed width of a host, and what it reaches per seed."""

    width: int
    worth: dict[int, float]


def drive(model: HostModel, limit: Limit, seed: int, tasks: int | None = None, black_box: bool = False) -> DriveOutcome:
    seconds = model.seconds if tasks is None else 2 * model.seconds
    return Drive(build(model.parameters), limit, seed, seconds, tasks, black_box).run()


def worth(outcome: DriveOutcome, tasks: int | None) -> float:
    """The goodput of an endless backlog. For a short one: how fast it was done, or the part of it that was."""
    return outcome.goodput if tasks is None else outcome.done / tasks / outcome.seconds


def best_fixed(model: HostModel, seeds: Sequence[int], tasks: int | None = None) -> BestWidth:
    """Sweep coarsely, then between the neighbours of the best."""
    tried: dict[int, float] = {}
    swept = seeds[:SWEEP_SEEDS] if tasks is None else seeds

    def worth_of(width: int, seed: int) -> float:
        return worth(drive(model, Fixed(width), seed, tasks), tasks)

    def value(width: int) -> float:
        if width not in tried:
            tried[width] = mean(worth_of(width, seed) for seed in swept)
        return tried[width]

    best = 1
    coarse = sorted({min(model.width_max, round(1.4**power)) for power in range(18)})
    for width in coarse:
        if value(width) > value(best):
            best = width
        elif value(width) < FAR_PAST * value(best):
            break  # collapsed: wider is worse, and slow to simulate
    below = max((width for width in coarse if width < best), default=best)
    above = min((width for width in coarse if width > best), default=best)
    apart = max(1, (above - below) // 8)
    best = max(range(below, above + 1, apart), key=value)
    return BestWidth(best, {seed: worth_of(best, seed) for seed in seeds})


def score(
    model: HostModel,
    make: MakeLimit,
    seeds: Sequence[int],
    best: BestWidth,
    tasks: int | None = None,
    black_box: bool = False,
) -> LimitScore:
    outcomes = {seed: drive(model, make(model, seed), seed, tasks, black_box) for seed in seeds}
    fractions = sorted(worth(outcomes[seed], tasks) / best.worth[seed] for seed in seeds)
    return LimitScore(
        host=model.name,
        fraction=mean(fractions),
        worst=fractions[len(fractions) // 10],
        overloads=mean(outcome.overloads for outcome in outcomes.values()),
        kills=mean(outcome.kills for outcome in outcomes.values()),
        refused=mean(outcome.refused / outcome.starts for outcome in outcomes.values()),
        mean_in_flight=mean(outcome.mean_in_flight for outcome in outcomes.values()),
    )


def memory_of_a_run(model: HostModel, seed: int, black_box: bool = False) -> HostMemory | None:
    """What a real cold run on other tasks teaches."""
    clutch = Clutch.begin(width_max=model.width_max, nature=model.nature)
    drive(model, clutch, seed + 500, black_box=black_box)
    return clutch.export()
