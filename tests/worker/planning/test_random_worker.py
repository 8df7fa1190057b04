"""Random models, devices, neighbours, requests and faults never exceed the budget, lose an item or do one twice."""

import os
import random

import pytest

from manyhands.worker.devices.simulated_devices import SimulatedDevice
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.planning.planner import Planner
from manyhands.worker.residency.evictions import RESIDENCY_MIN_S
from manyhands.worker.values import planner_values as m
from worker.simulated_worker import MIB, SimulatedWorker, Truth, a_spec

RESERVE = 32 * MIB
SEQUENCES = 10_000 if os.environ.get("MANYHANDS_SOAK") else 120
CHUNKS = 4


class Watch:
    """Checks each decision against invariants, without using the planner's own state."""

    def __init__(self, specs: list[m.ModelSpec]) -> None:
        self.specs = {spec.name: spec for spec in specs}

    def __call__(self, worker: SimulatedWorker, decision: m.PlannerDecision) -> None:
        match decision:
            case m.LoadModel(name, device, size):
                assert name not in worker.resident
                assert name not in worker.loading
                within_budget(worker, device, model_bytes=size)
            case m.RunBatch(batch, device):
                assert worker.resident[batch.model] == device
                assert batch.model not in worker.evicting
                of_model = [one for one in worker.in_flight.values() if one.batch.model == batch.model]
                assert len(of_model) < self.specs[batch.model].in_flight_max
                within_budget(worker, device, batch.bytes)
            case m.EvictModel(name):
                assert not self.specs[name].pinned
                assert all(one.batch.model != name for one in worker.in_flight.values()), "a model in use was evicted"
                loaded_at = max(at for at, loaded in worker.loads if loaded == name)
                assert worker.at - loaded_at >= RESIDENCY_MIN_S, "a model was evicted too soon"


def within_budget(worker: SimulatedWorker, name: str, batch_bytes: int = 0, model_bytes: int = 0) -> None:
    """A model needs room beside the batch that computes. A batch starts only when that one has ended."""
    device = worker.devices[name]
    resident = sum(worker.truths[one].weights_bytes for one, where in worker.resident.items() if where == name)
    loading = sum(one.bytes for one in worker.loading.values() if one.device == name)
    computing = max((one.batch.bytes for one in worker.in_flight.values() if one.device == name), default=0)
    wanted = model_bytes + computing if model_bytes else batch_bytes
    assert resident + loading + wanted <= device.total_bytes - device.others_bytes - RESERVE


def a_random_worker(seed: int) -> tuple[SimulatedWorker, list[m.ModelSpec]]:
    chance = random.Random(seed)
    names = ["a", "b", "c", "d", "e"][: chance.randint(2, 5)]
    truths = {
        name: Truth(
            chance.randint(20, 400) * MIB,
            m.Growth(chance.random() * 20 * MIB, 10 ** chance.uniform(3.5, 5), chance.choice([0.0, 150.0])),
            m.Growth(0.01, 0.0002),
            load_s=chance.choice([0.05, 0.5, 2.0]),
            loads=chance.random() > 0.05,
            poison=frozenset(chance.sample(range(400), 3)) if chance.random() < 0.3 else frozenset(),
        )
        for name in names
    }
    specs = [
        a_spec(
            name,
            truth,
            pinned=chance.random() < 0.1,
            priority=chance.randint(0, 4),
            in_flight_max=chance.randint(1, 3),
            queue_items_max=chance.choice([60, 8192]),
        )
        for name, truth in truths.items()
    ]
    devices = {
        f"gpu-{index}": SimulatedDevice(chance.randint(300, 1500) * MIB, tells_own=chance.random() < 0.7)
        for index in range(chance.randint(1, 2))
    }
    planner = Planner(budget=MemoryBudget(RESERVE), in_flight_max=chance.randint(1, 5))
    return SimulatedWorker(planner, truths, devices, seed), specs


def play(seed: int) -> None:
    chance = random.Random(seed + 1)
    worker, specs = a_random_worker(seed)
    worker.watch = Watch(specs)
    worker.start(*specs)
    given: set[int] = set()
    cancelled: set[int] = set()
    for _ in range(chance.randint(10, 30)):
        worker.run(until=worker.at + chance.choice([0.0, 0.05, 1.0, 7.0]))
        worker.at += 0.01
        match chance.choice(["submit", "submit", "submit", "neighbour", "cancel"]):
            case "submit":
                name, app = chance.choice(specs).name, chance.choice(["x", "y"])
                ids = range(len(given), len(given) + chance.randint(1, 20))
                given.update(ids)
                worker.submit(*(m.Item(id, name, chance.randint(1, 512), app) for id in ids))
            case "neighbour":
                device = chance.choice(list(worker.devices.values()))
                device.others_want_bytes = int(chance.random() ** 2 * device.total_bytes)
            case "cancel":
                ids = chance.sample(sorted(given), min(len(given), 5))
                cancelled.update(set(ids) - set(worker.done))
                worker.tell(m.ItemsCancelled(worker.at, tuple(ids)))
    for device in worker.devices.values():
        device.others_want_bytes = 0
    refused = {id for refusal in worker.refused for id in refusal.ids}
    wanted = given - refused - cancelled
    give_up_at = worker.at + 600
    while worker.in_flight or not (wanted <= set(worker.done) | set(worker.failed) or worker.at > give_up_at):
        worker.run(until=worker.at + 5)
        worker.at += 5
    assert len(worker.done) == len(set(worker.done)), "an item was done twice"
    assert not set(worker.done) & set(worker.failed)
    assert wanted <= set(worker.done) | set(worker.failed), "an item was lost"
    for device in worker.devices.values():
        assert device.own_bytes == sum(
            worker.truths[name].weights_bytes
            for name, where in worker.resident.items()
            if worker.devices[where] is device
        )


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_loads_evictions_and_batches_stay_within_the_budget(chunk: int) -> None:
    for seed in range(chunk, SEQUENCES, CHUNKS):
        try:
            play(seed)
        except BaseException as error:
            error.add_note(f"play({seed})")
            raise
