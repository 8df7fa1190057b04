"""How much of what is computed is padding, and what does planning cost?

Real mixed-length text, simulated computing: the planner is the real one and its time is measured; the waste is
arithmetic. With the tokenizer of MiniLM if it is there (`--tokenizer FILE`), else with a stand-in.
"""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

from record import record

from manyhands.worker.devices.simulated_devices import SimulatedDevice
from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.memory.learned_store import Learned
from manyhands.worker.packing.batch_limits import BatchLimits
from manyhands.worker.packing.batch_plan import BatchPlan, Waiting
from manyhands.worker.packing.bounds import MemoryBounds
from manyhands.worker.packing.splits import cheapest_cuts
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values import planner_values as m
from worker.docstrings import LENGTH_MAX, docstrings, token_lengths
from worker.simulated_worker import GIB, MIB, SimulatedWorker, Truth, a_spec

#: MiniLM on one core, as measured; and a device on which a batch costs as much as thousands of tokens besides its own.
COSTS = {
    "onnxruntime": m.Growth(0.0014, 0.000184),
    "torch": m.Growth(0.0057, 0.000165, 1e-7),
    "large device": m.Growth(0.01, 2e-6),
}


REPLAYS = 15
#: How soon whoever got an answer asks again.
REFILL_S = 0.001


#: Packing alone; all from an item's arrival to the end of its batch; the same while it still learns what batches take.
PLANNER_UNITS = ("µs of one plan an item", "µs of planner an item", "µs of planner an item, at first")


class Crowd(NamedTuple):
    models: int
    apps: int


CROWDS = (Crowd(1, 1), Crowd(3, 8))


class RecordingPlanner(Planner):
    """Keeps what it was told, so that the very same can be told again with nothing else being timed."""

    def __init__(self, learned: dict[str, Learned]) -> None:
        super().__init__(learned)
        self.told: list[tuple[m.PlannerEvent, ...]] = []

    def handle(self, first: m.PlannerEvent, *more: m.PlannerEvent) -> list[m.PlannerDecision]:
        self.told.append((first, *more))
        return super().handle(first, *more)


def planning_seconds(told: list[tuple[m.PlannerEvent, ...]], learned: dict[str, Learned]) -> float:
    """Of each step the least of several replays, added up: what else the machine does is not the planner's."""
    least = [math.inf] * len(told)
    for _ in range(REPLAYS):
        planner = Planner(learned)
        for step, events in enumerate(told):
            began = time.perf_counter()
            planner.handle(*events)
            least[step] = min(least[step], time.perf_counter() - began)
    return sum(least)


def lengths_of(count: int, tokenizer_file: str | None) -> list[int]:
    if tokenizer_file is None:
        return token_lengths(count)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.no_padding()
    tokenizer.enable_truncation(LENGTH_MAX)
    return [len(one.ids) for one in tokenizer.encode_batch(list(docstrings(count)))]


def waste(batches: Sequence[Sequence[int]]) -> float:
    return 1 - sum(map(sum, batches)) / sum(max(batch) * len(batch) for batch in batches)


def fixed(lengths: Sequence[int], size: int = 32) -> list[Sequence[int]]:
    return [lengths[begin : begin + size] for begin in range(0, len(lengths), size)]


def by_tokens(lengths: Sequence[int], budget: int = 4096) -> list[list[int]]:
    """In order of arrival, as many as fit a budget of padded tokens."""
    batches: list[list[int]] = [[]]
    for length in lengths:
        if batches[-1] and max(length, *batches[-1]) * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(length)
    return batches


def sorted_windows(lengths: Sequence[int], window: int) -> list[Sequence[int]]:
    return [batch for begin in range(0, len(lengths), window) for batch in fixed(sorted(lengths[begin:][:window]))]


def cheapest_windows(lengths: Sequence[int], window: int, cost: m.Growth) -> list[Sequence[int]]:
    """All of a window, then all of the next: what cutting can give at best when nothing is in flight."""
    batches: list[Sequence[int]] = []
    for first in range(0, len(lengths), window):
        some = sorted(lengths[first : first + window])
        cuts = cheapest_cuts([cost.of_item(length) for length in some], cost.k0, [len(some)] * len(some))
        batches += [some[begin:end] for begin, end in zip([0, *cuts], cuts, strict=False)]
    return batches


def seconds_of(batches: Sequence[Sequence[int]], cost: m.Growth) -> float:
    return sum(cost.of(len(batch), max(batch)) for batch in batches)


class Served(NamedTuple):
    batches: list[list[int]]  # the lengths in each
    planning_s: float
    learned: dict[str, Learned]


def serve(lengths: list[int], waiting: int, cost: m.Growth, crowd: Crowd, learned: dict[str, Learned]) -> Served:
    """So many wait all the time, each text a request of its own."""
    truth = Truth(90 * MIB, m.Growth(8 * MIB, 25_000.0, 150.0), cost)
    planner = RecordingPlanner(learned)
    names = [f"model-{number}" for number in range(crowd.models)]
    worker = SimulatedWorker(planner, dict.fromkeys(names, truth), {"gpu": SimulatedDevice(8 * GIB)})
    items = [
        m.Item(id, names[id % crowd.models], length, f"app-{id // crowd.models % crowd.apps}")
        for id, length in enumerate(lengths)
    ]
    worker.start(*(a_spec(name, truth, pinned=True) for name in names))
    given = 0

    def refill() -> list[m.PlannerEvent]:
        nonlocal given
        more = items[given : len(worker.done) + waiting]
        given += len(more)
        if given < len(items):
            worker.later(worker.at + REFILL_S, refill)
        return [m.ItemsArrived(worker.at, (item,)) for item in more]

    worker.later(1.0, refill)
    worker.run()
    assert len(worker.done) == len(items)
    batches = [[lengths[id] for id in batch.items] for batch in worker.batches]
    return Served(batches, planning_seconds(planner.told, learned), planner.learned())


def one_plan_seconds(lengths: list[int], waiting: int, cost: m.Growth) -> float:
    """Packing alone: so many items cut into batches."""
    spec = a_spec(truth=Truth(90 * MIB, m.Growth(8 * MIB, 25_000.0, 150.0), cost))
    limits = BatchLimits(spec, ActivationMemory(spec.activation), MemoryBounds(), cost, 8 * GIB)
    window = [Waiting(m.Item(id, "", length), length, (float(id), id)) for id, length in enumerate(lengths[:waiting])]
    BatchPlan(window, limits)
    took = []
    for _ in range(REPLAYS):
        began = time.perf_counter()
        BatchPlan(window, limits)
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=4096)
    parser.add_argument("--tokenizer", help="the tokenizer.json of a model")
    options = parser.parse_args()
    lengths = lengths_of(options.items, options.tokenizer)
    tokens = "tokenizer" if options.tokenizer else "stand-in"
    middle = sorted(lengths)[len(lengths) // 2]
    print(f"{len(lengths)} docstrings, tokens by {tokens}: mean {sum(lengths) / len(lengths):.0f}, median {middle}")
    for name, cost in COSTS.items():
        naive = seconds_of(fixed(lengths), cost)
        print(f"\n{name:42}{'waste':>8}{'× naive':>9}{'batches':>9}   planner's µs an item: a plan, all, at first")
        others: dict[str, Sequence[Sequence[int]]] = {
            "fixed 32, order of arrival": fixed(lengths),
            "4096 tokens, order of arrival": by_tokens(lengths),
            "windows of 256 sorted, fixed 32": sorted_windows(lengths, 256),
            "all sorted, fixed 32": sorted_windows(lengths, len(lengths)),
            "windows of 64, cut for a processor": cheapest_windows(lengths, 64, COSTS["torch"]),
        }
        for window in (64, 256, 1024):
            others[f"windows of {window}, cheapest cuts"] = cheapest_windows(lengths, window, cost)
        for packer, batches in others.items():
            print(f"{packer:42}{waste(batches):8.1%}{naive / seconds_of(batches, cost):9.2f}{len(batches):9}")
            record("packing", {"packer": packer, "cost": name, "tokens": tokens}, waste(batches), "padding")
        for crowd in CROWDS:
            for waiting in (64, 256, 1024):
                at_first = serve(lengths, waiting, cost, crowd, {})
                served = serve(lengths, waiting, cost, crowd, at_first.learned)
                spent = [one_plan_seconds(lengths, waiting, cost) / waiting * 1e6]
                spent += [each.planning_s / len(lengths) * 1e6 for each in (served, at_first)]
                padding, faster = waste(served.batches), naive / seconds_of(served.batches, cost)
                label = f"planner, {waiting} waiting, {crowd.models} models, {crowd.apps} apps"
                shown = "".join(f"{each:10.1f}" for each in spent)
                print(f"{label:42}{padding:8.1%}{faster:9.2f}{len(served.batches):9}   {shown}")
                params = {"packer": "planner", "waiting": waiting, "cost": name, "tokens": tokens}
                params |= {"items": len(lengths), "models": crowd.models, "apps": crowd.apps}
                record("packing", params, padding, "padding")
                record("packing", params, faster, "× naive, by the cost model")
                for unit, value in zip(PLANNER_UNITS, spent, strict=True):
                    record("packing", params, value, unit)


if __name__ == "__main__":
    main()
