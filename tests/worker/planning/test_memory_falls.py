"""Another process takes half of the device's memory in the middle of a run."""

import os
import random

import pytest
from msgspec import Struct, field

from manyhands.worker.devices.simulated_devices import SimulatedDevice
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.packing.item_queue import WINDOW
from manyhands.worker.packing.splits import cheapest_cuts
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values import planner_values as m
from worker.simulated_worker import GIB, MIB, SimulatedWorker, Truth, a_spec

SEEDS = 100 if os.environ.get("MANYHANDS_SOAK") else 1
ITEMS = 16_000


class Scene(Struct):
    """Like a large GPU: a batch's overhead equals ten thousand tokens, so only the size of batches matters."""

    lengths: list[int]
    falls_at: float = 2.5
    total_bytes: int = 4 * GIB
    taken_bytes: int = 2 * GIB
    truth: Truth = field(
        default_factory=lambda: Truth(400 * MIB, m.Growth(8 * MIB, 25_000.0, 150.0), m.Growth(0.02, 2e-6))
    )


def scene_of(seed: int) -> Scene:
    chance = random.Random(seed)
    middle = chance.uniform(3.5, 4.5) if seed else 3.9
    scene = Scene([min(512, int(chance.lognormvariate(middle, 1.1)) + 3) for _ in range(ITEMS)])
    if not seed:
        return scene
    weights_bytes = chance.randint(100, 1000) * MIB
    scene.truth.weights_bytes = weights_bytes
    scene.truth.activation = m.Growth(
        chance.random() * 30 * MIB, 10 ** chance.uniform(4.3, 5.0), chance.choice([0.0, 50.0, 150.0])
    )
    scene.total_bytes = weights_bytes + chance.randint(3, 5) * GIB
    scene.taken_bytes = (scene.total_bytes - weights_bytes) // 2
    scene.falls_at = chance.uniform(0.3, 0.7) * oracle_seconds(scene)
    return scene


def oracle_seconds(scene: Scene) -> float:
    """How long the work takes with perfect knowledge of all sizes and of when the memory falls, using every byte."""
    truth = scene.truth
    at = truth.load_s
    for first in range(0, len(scene.lengths), WINDOW):
        window = sorted(scene.lengths[first : first + WINDOW])
        taken = scene.taken_bytes if at >= scene.falls_at else 0
        free = scene.total_bytes - truth.weights_bytes - taken - truth.activation.k0
        most = [int(free / truth.activation.of_item(length)) for length in window]
        begin = 0
        for end in cheapest_cuts([truth.seconds.of_item(length) for length in window], truth.seconds.k0, most):
            at += truth.seconds.of(end - begin, window[end - 1])
            begin = end
    return at


@pytest.mark.slow
@pytest.mark.parametrize("tells_own", [True, False], ids=["by process", "free alone"])
@pytest.mark.parametrize(("in_flight_max", "abreast"), [(1, 1), (3, 1), (4, 2)])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_batch_runs_out_of_memory_after_the_first_and_little_is_lost(
    seed: int, in_flight_max: int, abreast: int, tells_own: bool
) -> None:
    """All batches that compute at the moment when the memory falls may run out."""
    scene = scene_of(seed)
    scene.falls_at /= abreast
    device = SimulatedDevice(scene.total_bytes, tells_own=tells_own)
    planner = Planner(budget=MemoryBudget(64 * MIB, computing_max=abreast), abreast_max=abreast)
    worker = SimulatedWorker(planner, {"minilm": scene.truth}, {"gpu": device}, seed, abreast)
    worker.start(a_spec(truth=scene.truth, queue_items_max=40_000, in_flight_max=in_flight_max))

    def neighbour() -> list[m.PlannerEvent]:
        device.others_want_bytes = scene.taken_bytes
        return []

    worker.later(scene.falls_at, neighbour)
    worker.submit(*(m.Item(id, "minilm", length) for id, length in enumerate(scene.lengths)))
    worker.run()
    assert sorted(worker.done) == list(range(ITEMS))
    assert worker.at > 1.2 * scene.falls_at
    assert len(worker.out_of_memory_at) <= abreast
    assert all(at <= scene.falls_at + 0.5 for at in worker.out_of_memory_at)
    share = oracle_seconds(scene) / worker.at
    print(f"seed {seed}: {share:.3f} of the oracle, {len(worker.out_of_memory_at)} out of memory")
    assert abreast > 1 or share >= 0.9  # the oracle computes one batch at a time with all the memory
