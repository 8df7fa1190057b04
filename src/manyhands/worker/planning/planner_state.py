"""What the planner remembers about models, devices and batches in flight. Only the planner changes it."""

import enum
from collections import deque

from msgspec import Struct, field

from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.memory.duration import BatchDuration
from manyhands.worker.memory.learned_store import Learned
from manyhands.worker.memory.memory_budget import Ledger, MemoryBudget
from manyhands.worker.packing.batch_limits import BatchLimits, round_down
from manyhands.worker.packing.batch_plan import Waiting
from manyhands.worker.packing.bounds import MemoryBounds
from manyhands.worker.packing.item_queue import ItemQueue
from manyhands.worker.residency.evictions import Resident, faded
from manyhands.worker.values.planner_values import Batch, DeviceMemory, ModelSpec

#: Until a load was measured, it is assumed to take this many times the weights' size on disk.
LOADING_MARGIN = 1.25
#: The next load may take this many times the largest load measured so far.
RELOADING_MARGIN = 1.05
#: Batch limits are cached for this many different amounts of room.
ROOMS_MAX = 32


class Phase(enum.StrEnum):
    ABSENT = "absent"
    LOADING = "loading"
    RESIDENT = "resident"
    DRAINING = "draining"  # resident, but it starts no batches because it will be evicted
    EVICTING = "evicting"


#: Looking up an enum member by name in each turn of a loop costs more than the rest of the turn.
RESIDENT = Phase.RESIDENT
HOLDS_MEMORY = frozenset({Phase.LOADING, Phase.RESIDENT, Phase.DRAINING, Phase.EVICTING})


class Flight(Struct):
    """A batch that was started and has not ended."""

    batch: Batch
    waiting: list[Waiting]
    device: str
    room_bytes: int  # the room there was when it was planned
    alone: bool  # no other batch computes on its device at the same time

    @property
    def wanted(self) -> list[Waiting]:
        return [one for one in self.waiting if not one.cancelled]


class Hosted:
    """One model: what is known about it, which items wait for it, and where it is loaded."""

    def __init__(self, spec: ModelSpec, learned: Learned) -> None:
        self.spec = spec
        self.activation = ActivationMemory(spec.activation, learned.activations)
        self.duration = BatchDuration(spec.seconds, learned.durations)
        self.bounds = MemoryBounds(learned.bounds)
        self.loaded_bytes = learned.loaded_bytes
        self.load_s = learned.load_s
        self.queue = ItemQueue()
        self.halves: deque[list[Waiting]] = deque()  # halves of batches that failed; each runs as one batch
        self.phase = Phase.ABSENT
        self.device = ""
        self.bytes = 0  # memory set aside for it on its device
        self.in_flight = 0
        self.loaded_at = 0.0
        self.used_at = 0.0
        self.useful_s = 0.0
        self.start_on_clock: float | None = None  # where its next batch stands among those of other models
        self.last_batch_s = 0.0
        self.load_failures = 0
        self.not_before = 0.0  # loading failed; it is not tried again before this time
        self.trouble = ""  # why loading failed
        self.leaving = False  # it is no longer configured and is removed once it is idle
        self.past_held_until = 0.0  # no room can be made for an item; until this time others may go before it
        self.room_asked_at: float | None = None  # when other models were told to make room for this one
        self._limits: dict[int, BatchLimits] = {}  # by the room there is
        self._limits_from: tuple[object, ...] = ()  # what the limits were computed from

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def has_work(self) -> bool:
        return bool(self.halves or self.queue.waiting)

    @property
    def load_bytes(self) -> int:
        if self.loaded_bytes:
            return int(self.loaded_bytes * RELOADING_MARGIN)
        return int(self.spec.weights_bytes * LOADING_MARGIN)

    @property
    def waiting_s(self) -> float:
        """How long the waiting items will take, without the overhead of each batch."""
        seconds = self.duration.growth
        return seconds.k1 * self.queue.tokens + seconds.k2 * self.queue.tokens_squared

    def limits(self, room: int) -> BatchLimits:
        """The batch limits for this room. They are cached until something new is learned about the model."""
        room = round_down(room)
        learned = (self.spec, self.activation.revision, self.bounds.revision, self.duration.growth)
        if learned != self._limits_from or len(self._limits) > ROOMS_MAX:
            self._limits_from = learned
            self._limits.clear()
        known = self._limits.get(room)
        if known is None:
            known = BatchLimits(self.spec, self.activation, self.bounds, self.duration.growth, room)
            self._limits[room] = known
        return known

    def was_useful(self, at: float, seconds: float) -> None:
        self.useful_s = faded(self.useful_s, at - self.used_at) + seconds
        self.used_at = at

    def as_resident(self) -> Resident:
        return Resident(
            self.name,
            self.bytes,
            self.loaded_at,
            self.load_s,
            self.used_at,
            self.useful_s,
            self.waiting_s,
            self.spec.priority,
            self.spec.pinned,
        )

    def learned(self) -> Learned:
        return Learned(
            self.loaded_bytes,
            self.load_s,
            tuple(self.activation.seen()),
            tuple(self.duration.seen()),
            self.bounds.all(),
        )


class Device(Struct):
    name: str
    memory: DeviceMemory
    own_at_start_bytes: int  # held by this process before it loaded any model
    ledger: Ledger = field(default_factory=Ledger)
    kept_for_loading_bytes: int = 0  # batches must not use it, because a model is about to be loaded

    @property
    def in_flight(self) -> int:
        return len(self.ledger.batches)

    def room_for_model(self, budget: MemoryBudget) -> int:
        return budget.room_for_model(self.memory, self.ledger, self.own_at_start_bytes) - self.kept_for_loading_bytes

    def room_for_batch(self, budget: MemoryBudget, before: int | None = None) -> int:
        room = budget.room_for_batch(self.memory, self.ledger, self.own_at_start_bytes, before)
        return room - self.kept_for_loading_bytes
