"""A neighbour takes half of the device's memory in the middle of a run."""

import random

import pytest

from manyhands.models import model as m
from manyhands.models.devices.simulated import SimulatedDevice
from manyhands.models.memory.budget import Budget
from manyhands.models.packing.queue import WINDOW
from manyhands.models.packing.splits import cheapest_cuts
from manyhands.models.planning.planner import Planner
from models.simulated_worker import GIB, MIB, SimulatedWorker, Truth, a_spec

TOTAL, TAKEN, FALLS_AT = 4 * GIB, 2 * GIB, 2.5
#: As a large GPU: a batch costs as much as ten thousand tokens besides its own, so its size is all that counts.
TRUTH = Truth(400 * MIB, m.Growth(8 * MIB, 25_000.0, 150.0), m.Growth(0.02, 2e-6))


def oracle_seconds(lengths: list[int]) -> float:
    """Knows what everything takes, when the memory falls, and uses it to the last byte."""
    at = TRUTH.load_s
    for first in range(0, len(lengths), WINDOW):
        window = sorted(lengths[first : first + WINDOW])
        free = TOTAL - TRUTH.weights_bytes - (TAKEN if at >= FALLS_AT else 0) - TRUTH.activation.k0
        most = [int(free / TRUTH.activation.of_item(length)) for length in window]
        begin = 0
        for end in cheapest_cuts([TRUTH.seconds.of_item(length) for length in window], TRUTH.seconds.k0, most):
            at += TRUTH.seconds.of(end - begin, window[end - 1])
            begin = end
    return at


@pytest.mark.parametrize("tells_own", [True, False], ids=["by process", "free alone"])
@pytest.mark.parametrize("in_flight_max", [1, 3])
def test_no_batch_runs_out_of_memory_after_the_first_and_little_is_lost(in_flight_max: int, tells_own: bool) -> None:
    chance = random.Random(1)
    lengths = [min(512, int(chance.lognormvariate(3.9, 1.1)) + 3) for _ in range(16_000)]
    device = SimulatedDevice(TOTAL, tells_own=tells_own)
    worker = SimulatedWorker(Planner(budget=Budget(64 * MIB)), {"minilm": TRUTH}, {"gpu": device})
    worker.start(a_spec(truth=TRUTH, queue_items_max=40_000, in_flight_max=in_flight_max))

    def neighbour() -> list[m.Event]:
        device.others_want_bytes = TAKEN
        return []

    worker.later(FALLS_AT, neighbour)
    worker.submit(*(m.Item(id, "minilm", length) for id, length in enumerate(lengths)))
    worker.run()
    assert sorted(worker.done) == list(range(len(lengths)))
    assert worker.at > 1.5 * FALLS_AT
    # Those that were in flight when it fell met it together; nobody planned after that does.
    assert len(worker.out_of_memory_at) <= in_flight_max
    assert all(at <= FALLS_AT + 0.5 for at in worker.out_of_memory_at)
    assert oracle_seconds(lengths) / worker.at >= 0.9
