"""All the planner's state in one place, and the few changes to it that several rules share."""

from collections.abc import Iterable, Mapping

from manyhands.worker.memory.learned_store import Learned
from manyhands.worker.memory.memory_budget import MemoryBudget
from manyhands.worker.packing.fairness import FairClock
from manyhands.worker.planning.planner_state import HOLDS_MEMORY, Device, Flight, Hosted, Phase


class PlannerBook:
    def __init__(
        self, learned: Mapping[str, Learned], in_flight_max: int, budget: MemoryBudget, abreast_max: int = 1
    ) -> None:
        self.learned = dict(learned)  # by fingerprint; includes models that are not configured
        self.in_flight_max = in_flight_max
        self.abreast_max = abreast_max  # batches that a device really computes at once; the others queue behind them
        self.budget = budget
        self.models: dict[str, Hosted] = {}
        self.devices: dict[str, Device] = {}
        self.flights: dict[int, Flight] = {}
        self.weight_of: dict[str, float] = {}
        self.clock = FairClock()  # shared by the models; each queue has its own clock for apps
        self._wake: float | None = None
        self._ids = 0

    def new_id(self) -> int:
        self._ids += 1
        return self._ids

    def wake_at(self, at: float) -> None:
        self._wake = at if self._wake is None else min(self._wake, at)

    def take_wake(self) -> float | None:
        wake, self._wake = self._wake, None
        return wake

    def on(self, device: str) -> list[Hosted]:
        return [one for one in self.models.values() if one.phase in HOLDS_MEMORY and one.device == device]

    def room_at_best(self, device: Device, staying: Hosted) -> int:
        """The room if this model and the pinned ones were loaded alone, and no other process used the device."""
        held = sum(one.bytes for one in self.on(device.name) if one.spec.pinned or one is staying)
        return self.budget.room_at_most(device.memory.total_bytes - held - device.own_at_start_bytes)

    def let_go(self, hosted: Hosted) -> None:
        """Record that the model no longer holds memory."""
        device = self.devices.get(hosted.device)
        if device is not None:
            if hosted.phase is Phase.LOADING:
                device.ledger.loading -= hosted.bytes
            else:
                device.ledger.resident -= hosted.bytes
        hosted.phase, hosted.device, hosted.bytes = Phase.ABSENT, "", 0

    def forget(self, hosted: Hosted, ids: Iterable[int]) -> None:
        """Remove these items from everything that waits."""
        gone = set(ids)
        for id in gone:
            hosted.queue.remove(id)
        for half in hosted.halves:
            half[:] = [one for one in half if one.item.id not in gone]
        while hosted.halves and not all(hosted.halves):
            hosted.halves.remove([])

    def all_waiting(self, hosted: Hosted) -> list[int]:
        return [one.item.id for half in hosted.halves for one in half] + list(hosted.queue.waiting)
