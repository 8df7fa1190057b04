"""The planner's decisions for given events: loading, refusing, failing, evicting, and recovery from lost memory."""

import pytest

from manyhands.worker.devices.simulated_devices import SimulatedDevice
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.planning.item_intake import RETRY_AFTER_MAX_S
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values import planner_values as m
from worker.simulated_worker import GIB, MIB, SimulatedWorker, Truth, a_spec, a_truth

MEMORY = m.DeviceMemory(8 * GIB, 8 * GIB, 0)
READ = m.MemoryRead(0.0, "gpu", MEMORY)


def a_worker(total: int = 8 * GIB, seed: int = 0, **truths: Truth) -> SimulatedWorker:
    return SimulatedWorker(Planner(budget=MemoryBudget(64 * MIB)), truths, {"gpu": SimulatedDevice(total)}, seed)


def items(count: int, model: str = "minilm", length: int = 64, first: int = 0, app: str = "") -> tuple[m.Item, ...]:
    return tuple(m.Item(first + index, model, length, app) for index in range(count))


def a_resident_planner(**fields: object) -> Planner:
    planner = Planner()
    planner.handle(READ, m.ModelsConfigured(0.0, (a_spec(**fields),)))  # type: ignore[arg-type]
    planner.handle(m.ItemsArrived(0.0, items(1, first=10_000)))
    (run,) = planner.handle(m.ModelLoaded(0.0, "minilm", 400 * MIB))
    assert isinstance(run, m.RunBatch)
    planner.handle(m.BatchEnded(0.0, run.batch.id))
    return planner


def ran_out(planner: Planner, at: float, batch: int, memory: m.DeviceMemory) -> list[m.PlannerDecision]:
    return planner.handle(m.MemoryRead(at, "gpu", memory), m.BatchOutOfMemory(at, batch))


def test_nothing_happens_before_the_memory_was_read() -> None:
    planner = Planner()
    planner.handle(m.ModelsConfigured(0.0, (a_spec(),)))
    assert planner.handle(m.ItemsArrived(0.0, items(1))) == []
    (load,) = planner.handle(READ)
    assert isinstance(load, m.LoadModel)


def test_a_model_is_loaded_when_items_wait_for_it_and_a_pinned_one_at_once() -> None:
    planner = Planner()
    decisions = planner.handle(READ, m.ModelsConfigured(0.0, (a_spec("idle"), a_spec("pinned", pinned=True))))
    assert [one.model for one in decisions if isinstance(one, m.LoadModel)] == ["pinned"]
    decisions = planner.handle(m.ItemsArrived(0.0, items(1, "idle")))
    assert [one.model for one in decisions if isinstance(one, m.LoadModel)] == ["idle"]


def test_the_device_with_most_room_is_taken() -> None:
    planner = Planner()
    fuller = m.MemoryRead(0.0, "fuller", m.DeviceMemory(8 * GIB, 2 * GIB, 0))
    (load,) = planner.handle(fuller, READ, m.ModelsConfigured(0.0, (a_spec(pinned=True),)))
    assert isinstance(load, m.LoadModel)
    assert load.device == "gpu"


def test_a_full_queue_pushes_back_and_says_when_to_come_again() -> None:
    planner = a_resident_planner(queue_items_max=100, in_flight_max=1, batch_items_max=1)
    planner.handle(m.ItemsArrived(0.0, items(33)))
    (refused,) = planner.handle(m.ItemsArrived(0.0, items(30, first=100)))
    assert isinstance(refused, m.RefuseItems)
    assert refused.ids == tuple(range(100, 130))
    assert refused.retry_after_s is not None
    assert 1 <= refused.retry_after_s <= RETRY_AFTER_MAX_S
    assert planner.handle(m.ItemsArrived(0.0, items(15, first=200, app="other"))) == []  # there is room for other apps


def test_a_request_that_can_never_be_taken_is_refused_for_good() -> None:
    planner = a_resident_planner(queue_items_max=100, length_max=256)
    for wrong in (items(51), items(1, length=257), items(1, "unknown")):
        (refused,) = planner.handle(m.ItemsArrived(0.0, wrong))
        assert isinstance(refused, m.RefuseItems)
        assert refused.retry_after_s is None


def test_a_batch_that_ran_out_of_memory_is_halved_and_the_bound_remembered() -> None:
    planner = a_resident_planner(in_flight_max=1)
    (first,) = planner.handle(m.ItemsArrived(1.0, items(32)))
    assert isinstance(first, m.RunBatch)
    assert len(first.batch.items) == 32
    (again,) = ran_out(planner, 2.0, first.batch.id, MEMORY)
    assert isinstance(again, m.RunBatch)
    assert len(again.batch.items) == 16
    assert [(bound.count, bound.length) for bound in planner.learned()["minilm"].bounds] == [(32, 64)]
    # The bound is also remembered across runs.
    later = Planner(planner.learned())
    later.handle(READ, m.ModelsConfigured(0.0, (a_spec(),)))
    later.handle(m.ItemsArrived(0.0, items(32)))
    decisions = later.handle(m.ModelLoaded(0.0, "minilm"))
    assert max(len(one.batch.items) for one in decisions if isinstance(one, m.RunBatch)) == 16


def test_memory_that_a_neighbour_took_is_not_held_against_the_batch() -> None:
    planner = a_resident_planner(in_flight_max=1)
    (first,) = planner.handle(m.ItemsArrived(1.0, items(1000)))
    assert isinstance(first, m.RunBatch)
    taken = m.DeviceMemory(8 * GIB, 700 * MIB, 400 * MIB)
    (again,) = ran_out(planner, 2.0, first.batch.id, taken)
    assert isinstance(again, m.RunBatch)
    assert 0 < again.batch.bytes <= 0.9 * 700 * MIB - 512 * MIB
    assert planner.learned()["minilm"].bounds == ()


def test_a_batch_that_was_given_out_before_memory_fell_is_planned_anew() -> None:
    planner = a_resident_planner(in_flight_max=2, batch_items_max=500)
    first, second = planner.handle(m.ItemsArrived(1.0, items(1000)))
    assert isinstance(first, m.RunBatch)
    assert isinstance(second, m.RunBatch)
    taken = m.DeviceMemory(8 * GIB, 700 * MIB, 400 * MIB)
    read, failed = m.MemoryRead(2.0, "gpu", taken), m.BatchOutOfMemory(2.0, first.batch.id)
    again = planner.handle(read, failed, m.BatchReturned(2.0, second.batch.id))
    assert again
    for run in again:
        assert isinstance(run, m.RunBatch)
        assert 0 < run.batch.bytes <= 0.9 * 700 * MIB - 512 * MIB
    assert planner.learned()["minilm"].bounds == ()


def test_batches_given_out_after_it_are_not_taken_for_neighbours() -> None:
    """Two batches compute at once and share the room. The worker itself took the memory, not another process."""
    planner = Planner(in_flight_max=3, budget=MemoryBudget(computing_max=2))
    small = m.DeviceMemory(2 * GIB, 2 * GIB, 0)
    spec = a_spec(in_flight_max=3, batch_seconds_max=1000.0)
    planner.handle(m.MemoryRead(0.0, "gpu", small), m.ModelsConfigured(0.0, (spec,)))
    planner.handle(m.ItemsArrived(0.0, items(2000, length=512)))
    given = planner.handle(m.ModelLoaded(0.0, "minilm", 400 * MIB))
    runs = [each for each in given if isinstance(each, m.RunBatch)]
    assert len(runs) >= 2
    first = len(runs[0].batch.items)
    others = [m.BatchReturned(1.0, run.batch.id) for run in runs[1:]]
    again = planner.handle(m.MemoryRead(1.0, "gpu", small), m.BatchOutOfMemory(1.0, runs[0].batch.id), *others)
    assert isinstance(again[0], m.RunBatch)
    assert len(again[0].batch.items) <= first // 2
    assert [bound.count for bound in planner.learned()["minilm"].bounds] == [first]


def test_an_item_that_alone_runs_out_of_memory_twice_fails_by_itself() -> None:
    planner = a_resident_planner(in_flight_max=1)
    (run,) = planner.handle(m.ItemsArrived(1.0, items(1)))
    assert isinstance(run, m.RunBatch)
    (again,) = ran_out(planner, 2.0, run.batch.id, MEMORY)
    assert isinstance(again, m.RunBatch)
    assert again.batch.items == run.batch.items
    assert ran_out(planner, 3.0, again.batch.id, MEMORY) == [
        m.FailItems((0,), "`minilm` ran out of memory on this item", out_of_memory=True)
    ]


def test_a_poisonous_item_fails_exactly_itself() -> None:
    truth = a_truth(poison=frozenset({17, 40}))
    worker = a_worker(minilm=truth)
    worker.start(a_spec(truth=truth))
    worker.submit(*items(64))
    worker.run()
    assert set(worker.failed) == {17, 40}
    assert sorted(worker.done) == [id for id in range(64) if id not in {17, 40}]


def test_a_model_that_does_not_load_fails_its_items_and_refuses_more_for_a_while() -> None:
    worker = a_worker(minilm=a_truth(loads=False))
    worker.start(a_spec())
    worker.submit(*items(3))
    worker.run(until=1.0)
    assert set(worker.failed) == {0, 1, 2}
    worker.submit(*items(1, first=10))
    assert worker.refused[0].retry_after_s is not None
    assert "no such file" in worker.refused[0].reason


def test_a_model_that_can_never_fit_fails_its_items_with_the_figures() -> None:
    worker = a_worker(total=300 * MIB, minilm=a_truth())
    worker.start(a_spec())
    worker.submit(*items(2))
    assert set(worker.failed) == {0, 1}
    assert "MiB" in worker.failed[0].reason


def test_two_models_that_do_not_fit_together_take_turns_without_thrash() -> None:
    truths = {name: a_truth(weights_bytes=600 * MIB) for name in ("a", "b")}
    worker = a_worker(total=1200 * MIB, **truths)
    worker.start(*(a_spec(name, truth) for name, truth in truths.items()))
    for second in range(60):
        worker.submit(*items(4, "a", first=second * 10), at=float(second))
        worker.submit(*items(4, "b", first=second * 10 + 5), at=float(second))
    worker.run()
    assert len(worker.done) == 60 * 8
    assert 4 <= len(worker.loads) <= 14  # a model stays at least five seconds


def test_models_share_the_device_by_weight() -> None:
    truths = {name: a_truth() for name in ("heavy", "light")}
    worker = a_worker(**truths)
    specs = [a_spec(name, truths[name], weight=weight) for name, weight in (("heavy", 3.0), ("light", 1.0))]
    worker.start(*specs)
    worker.submit(*items(4000, "heavy"))
    worker.submit(*items(4000, "light", first=4000))
    worker.run(until=60.0)
    heavy = sum(id < 4000 for id in worker.done)
    assert 2.3 <= heavy / (len(worker.done) - heavy) <= 3.7


def test_what_is_mostly_overhead_does_not_stand_behind_another_batch_but_waits_for_company() -> None:
    dear = m.Growth(0.01, 2e-6)  # a batch's overhead equals 5,000 tokens
    planner = a_resident_planner(truth=Truth(400 * MIB, m.Growth(8 * MIB, 25_000.0), dear))
    (first,) = planner.handle(m.ItemsArrived(1.0, items(4)))
    assert isinstance(first, m.RunBatch)
    assert planner.handle(m.ItemsArrived(1.0, items(3, first=10))) == []
    assert planner.handle(m.ItemsArrived(1.0, items(3, first=20))) == []
    (second,) = planner.handle(m.BatchEnded(2.0, first.batch.id))
    assert isinstance(second, m.RunBatch)
    assert len(second.batch.items) == 6
    (third,) = planner.handle(m.ItemsArrived(2.0, items(1000, first=100)))  # they take longer than the overhead
    assert isinstance(third, m.RunBatch)


@pytest.mark.parametrize(("abreast_max", "alone"), [(2, {}), (1, {"batch_items_max": 1})])
def test_nothing_waits_for_company_that_cannot_come_or_while_a_core_is_idle(
    abreast_max: int, alone: dict[str, int]
) -> None:
    planner = Planner(abreast_max=abreast_max)
    planner.handle(READ, m.ModelsConfigured(0.0, (a_spec(pinned=True, **alone),)))
    planner.handle(m.ModelLoaded(0.0, "minilm"))
    for first in (0, 10):
        (run,) = planner.handle(m.ItemsArrived(1.0, items(1, first=first, length=4)))
        assert isinstance(run, m.RunBatch)


def test_a_cancelled_item_is_not_run_again_after_its_batch_fell() -> None:
    planner = a_resident_planner(in_flight_max=1)
    (run,) = planner.handle(m.ItemsArrived(1.0, items(4)))
    assert isinstance(run, m.RunBatch)
    planner.handle(m.ItemsCancelled(1.5, (0, 1)))
    (again,) = ran_out(planner, 2.0, run.batch.id, MEMORY)
    assert isinstance(again, m.RunBatch)
    assert set(again.batch.items) == {2, 3}


def test_a_model_no_longer_configured_goes_once_it_is_idle_and_what_it_taught_stays() -> None:
    planner = a_resident_planner()
    (run,) = planner.handle(m.ItemsArrived(1.0, items(4)))
    assert isinstance(run, m.RunBatch)
    assert planner.handle(m.ModelsConfigured(2.0, ())) == []
    assert planner.handle(m.BatchEnded(3.0, run.batch.id, 0.1, 50 * MIB)) == [m.EvictModel("minilm")]
    planner.handle(m.ModelEvicted(4.0, "minilm"))
    assert planner.statistics().models == ()
    assert planner.learned()["minilm"].loaded_bytes == 400 * MIB


def test_what_a_run_taught_serves_the_next() -> None:
    truth = a_truth()
    worker = a_worker(minilm=truth)
    worker.start(a_spec(truth=truth))
    worker.submit(*(m.Item(id, "minilm", 8 + id % 300) for id in range(2000)))
    worker.run()
    again = SimulatedWorker(
        Planner(worker.planner.learned()), {"minilm": truth}, {"gpu": SimulatedDevice(8 * GIB)}, seed=1
    )
    again.start(a_spec(truth=truth))
    again.submit(*(m.Item(id, "minilm", 8 + id % 300) for id in range(500)))
    again.run()
    assert all(taken <= said <= 1.5 * taken for said, taken in again.predictions)
