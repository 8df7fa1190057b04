"""How much of the computed work is padding, on real text, while a constant number of items waits."""

import pytest

from manyhands.worker.devices.simulated_devices import SimulatedDevice
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values import planner_values as m
from worker.docstrings import token_lengths
from worker.simulated_worker import GIB, MIB, SimulatedWorker, Truth, a_spec

ITEMS = 2048
#: MiniLM on one core, with onnxruntime and with torch: a batch's overhead equals 8 or 35 tokens.
ONNX = m.Growth(0.0014, 0.000184)
TORCH = m.Growth(0.0057, 0.000165, 1e-7)


def padded(batches: list[m.Batch]) -> int:
    return sum(batch.length * len(batch.items) for batch in batches)


def serve(lengths: list[int], waiting: int, seconds: m.Growth) -> SimulatedWorker:
    """Whenever items are done, as many new ones arrive, so `waiting` items wait until all have arrived."""
    truth = Truth(90 * MIB, m.Growth(8 * MIB, 25_000.0, 150.0), seconds)
    worker = SimulatedWorker(Planner(), {"minilm": truth}, {"gpu": SimulatedDevice(8 * GIB)})
    items = [m.Item(id, "minilm", length) for id, length in enumerate(lengths)]
    worker.start(a_spec(truth=truth))
    worker.submit(*items[:waiting])
    given = waiting

    def refill() -> list[m.PlannerEvent]:
        nonlocal given
        more = tuple(items[given : len(worker.done) + waiting])
        given += len(more)
        if given < len(items):
            worker.later(worker.at + 0.001, refill)
        return [m.ItemsArrived(worker.at, more)] if more else []

    worker.later(0.0, refill)
    worker.run()
    assert sorted(worker.done) == [item.id for item in items]
    return worker


@pytest.mark.parametrize("seconds", [ONNX, TORCH], ids=["onnx", "torch"])
@pytest.mark.parametrize(("waiting", "waste_max"), [(64, 0.07), (256, 0.05), (1024, 0.03)])
def test_little_is_padding_with_so_many_waiting(waiting: int, waste_max: float, seconds: m.Growth) -> None:
    lengths = token_lengths(ITEMS)
    worker = serve(lengths, waiting, seconds)
    assert 1 - sum(lengths) / padded(worker.batches) <= waste_max


def test_fixed_batches_in_the_order_of_arrival_are_mostly_padding() -> None:
    lengths = token_lengths(ITEMS)
    fixed = sum(32 * max(lengths[begin : begin + 32]) for begin in range(0, ITEMS, 32))
    assert 1 - sum(lengths) / fixed > 0.60
