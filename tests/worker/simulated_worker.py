"""Carries out the planner's decisions on simulated devices in virtual time, and checks each of them."""

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable
from itertools import count

from msgspec import Struct

from manyhands.worker.devices.simulated_devices import OutOfMemory, SimulatedDevice
from manyhands.worker.planning.planner import Planner
from manyhands.worker.values import planner_values as m

MIB = 2**20
GIB = 2**30


class Truth(Struct):
    """What a model really takes. The planner does not know it."""

    weights_bytes: int
    activation: m.Growth
    seconds: m.Growth
    load_s: float = 0.5
    loads: bool = True
    poison: frozenset[int] = frozenset()  # items that make every batch they are in fail
    noise: float = 0.03


def a_truth(weights_bytes: int = 400 * MIB, **fields: object) -> Truth:
    growth = m.Growth(8 * MIB, 25_000.0, 150.0)
    return Truth(weights_bytes, growth, m.Growth(0.005, 0.0002, 1e-7), **fields)  # type: ignore[arg-type]


def a_spec(name: str = "minilm", truth: Truth | None = None, **fields: object) -> m.ModelSpec:
    """A model with a typical guess: memory is half too high, and durations are wrong by half."""
    truth = truth or a_truth()
    guess = m.Growth(1.5 * truth.activation.k0, 1.5 * truth.activation.k1, 1.5 * truth.activation.k2)
    seconds = m.Growth(truth.seconds.k0 / 2, truth.seconds.k1 * 2, truth.seconds.k2)
    return m.ModelSpec(name, truth.weights_bytes, guess, seconds, **fields)  # type: ignore[arg-type]


class SimulatedWorker:
    """Each device computes a fixed number of batches at a time, in order. A batch holds memory while it computes."""

    def __init__(
        self,
        planner: Planner,
        truths: dict[str, Truth],
        devices: dict[str, SimulatedDevice],
        seed: int = 0,
        abreast: int = 1,
    ) -> None:
        self.abreast = abreast
        self.planner = planner
        self.truths = truths
        self.devices = devices
        self.random = random.Random(seed)
        self.at = 0.0
        self.done: list[int] = []
        self.done_at: dict[int, float] = {}
        self.failed: dict[int, m.FailItems] = {}
        self.refused: list[m.RefuseItems] = []
        self.batches: list[m.Batch] = []
        self.predictions: list[tuple[int, int]] = []  # (set aside, really taken) for each batch that ended
        self.out_of_memory_at: list[float] = []
        self.loads: list[tuple[float, str]] = []
        self.evictions: list[tuple[float, str]] = []
        self.resident: dict[str, str] = {}  # model → device
        self.loading: dict[str, m.LoadModel] = {}
        self.evicting: set[str] = set()
        self.in_flight: dict[int, m.RunBatch] = {}
        self.watch: Callable[[SimulatedWorker, m.PlannerDecision], None] = lambda worker, decision: None
        self._queue: list[tuple[float, int, Callable[[], list[m.PlannerEvent]]]] = []
        self._order = count()
        self._given: dict[str, deque[m.Batch]] = {name: deque() for name in devices}
        self._computing: Counter[str] = Counter()  # batches on each device
        self._wake_at: float | None = None

    def start(self, *specs: m.ModelSpec, weight_of: dict[str, float] | None = None) -> None:
        self.tell(m.ModelsConfigured(self.at, specs, weight_of or {}))

    def tell(self, *events: m.PlannerEvent) -> None:
        readings = [m.MemoryRead(self.at, name, device.memory()) for name, device in self.devices.items()]
        self._wake_at = None
        for decision in self.planner.handle(*readings, *events):
            self.watch(self, decision)
            self._carry_out(decision)

    def later(self, at: float, what: Callable[[], list[m.PlannerEvent]]) -> None:
        heapq.heappush(self._queue, (at, next(self._order), what))

    def submit(self, *items: m.Item, at: float | None = None) -> None:
        if at is None:
            self.tell(m.ItemsArrived(self.at, items))
        else:
            self.later(at, lambda: [m.ItemsArrived(at, items)])

    def run(self, until: float = 1e9, steps_max: int = 1_000_000) -> None:
        for _ in range(steps_max):
            next_at = self._queue[0][0] if self._queue else None
            if self._wake_at is not None and (next_at is None or self._wake_at < next_at):
                if self._wake_at > until:
                    return
                self.at = max(self.at, self._wake_at)
                self.tell(m.PlannerWoke(self.at))
                continue
            if next_at is None or next_at > until:
                return
            _, _, what = heapq.heappop(self._queue)
            self.at = max(self.at, next_at)
            events = what()
            if events:
                self.tell(*events)
        raise AssertionError("the simulation does not end")

    def _carry_out(self, decision: m.PlannerDecision) -> None:
        match decision:
            case m.RunBatch(batch, device):
                self.batches.append(batch)
                self.in_flight[batch.id] = decision
                self._given[device].append(batch)
                self.later(self.at, lambda: self._begin_next(device))
            case m.LoadModel(name, device, _):
                self.loads.append((self.at, name))
                self.loading[name] = decision
                self.later(self.at + self.truths[name].load_s, lambda: self._load(name, device))
            case m.EvictModel(name):
                self.evictions.append((self.at, name))
                self.evicting.add(name)
                self.later(self.at + 0.05, lambda: self._evict(name))
            case m.FailItems(ids):
                for id in ids:
                    assert id not in self.failed, "an item failed twice"
                    self.failed[id] = decision
            case m.RefuseItems():
                self.refused.append(decision)
            case m.WakePlannerAt(at):
                self._wake_at = at

    def _noise(self, model: str) -> float:
        return self.random.uniform(1 - self.truths[model].noise, 1 + self.truths[model].noise)

    def _begin_next(self, device: str) -> list[m.PlannerEvent]:
        if self._computing[device] >= self.abreast or not self._given[device]:
            return []
        batch = self._given[device].popleft()
        truth = self.truths[batch.model]
        took = truth.seconds.of(len(batch.items), batch.length) * self._noise(batch.model)
        taken = int(truth.activation.of(len(batch.items), batch.length) * self._noise(batch.model))
        try:
            self.devices[device].take(taken)
        except OutOfMemory:
            self.out_of_memory_at.append(self.at)
            returned = [batch, *self._given[device]]
            self._given[device].clear()
            for one in returned:
                del self.in_flight[one.id]
            unbegun = [m.BatchReturned(self.at, one.id) for one in returned[1:]]
            return [m.BatchOutOfMemory(self.at, batch.id), *unbegun]
        self._computing[device] += 1
        self.later(self.at + took, lambda: self._end(batch, device, taken, took))
        return []

    def _end(self, batch: m.Batch, device: str, taken: int, took: float) -> list[m.PlannerEvent]:
        self.devices[device].give_back(taken)
        self._computing[device] -= 1
        del self.in_flight[batch.id]
        self.later(self.at, lambda: self._begin_next(device))
        if self.truths[batch.model].poison.intersection(batch.items):
            return [m.BatchFailed(self.at, batch.id, "poison")]
        self.done += batch.items
        self.done_at.update(dict.fromkeys(batch.items, self.at))
        self.predictions.append((batch.bytes, taken))
        return [m.BatchEnded(self.at, batch.id, took, taken)]

    def _load(self, name: str, device: str) -> list[m.PlannerEvent]:
        truth = self.truths[name]
        del self.loading[name]
        if not truth.loads:
            return [m.ModelLoadFailed(self.at, name, "no such file")]
        try:
            self.devices[device].take(truth.weights_bytes)
        except OutOfMemory as error:
            return [m.ModelLoadFailed(self.at, name, str(error), out_of_memory=True)]
        self.resident[name] = device
        return [m.ModelLoaded(self.at, name, truth.weights_bytes, truth.load_s)]

    def _evict(self, name: str) -> list[m.PlannerEvent]:
        self.evicting.remove(name)
        self.devices[self.resident.pop(name)].give_back(self.truths[name].weights_bytes)
        return [m.ModelEvicted(self.at, name)]
