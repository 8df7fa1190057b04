"""What the planner remembers of models, devices and batches in flight. The planner alone changes it."""

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

#: What loading takes beyond the weights' size on disk, until it was seen.
LOADING_MARGIN = 1.25
#: The most that loading took may be exceeded by this the next time.
RELOADING_MARGIN = 1.05
#: Limits of batches are kept for so many different amounts of room.
ROOMS_MAX = 32


class Phase(enum.StrEnum):
    ABSENT = "absent"
    LOADING = "loading"
    RESIDENT = "resident"
    DRAINING = "draining"  # resident, but starts nothing more: it makes room
    EVICTING = "evicting"


#: A member looked up by name on each turn of a loop costs more than the rest of the turn.
RESIDENT = Phase.RESIDENT
HOLDS_MEMORY = frozenset({Phase.LOADING, Phase.RESIDENT, Phase.DRAINING, Phase.EVICTING})


class Flight(Struct):
    """A batch that was given out."""

    batch: Batch
    waiting: list[Waiting]
    device: str
    room_bytes: int  # what there was for it
    alone: bool  # nothing else computes beside it on its device

    @property
    def wanted(self) -> list[Waiting]:
        return [one for one in self.waiting if not one.cancelled]


class Hosted:
    """One model: what is known of it, what waits for it, and where it is."""

    def __init__(self, spec: ModelSpec, learned: Learned) -> None:
        self.spec = spec
        self.activation = ActivationMemory(spec.activation, learned.activations)
        self.duration = BatchDuration(spec.seconds, learned.durations)
        self.bounds = MemoryBounds(learned.bounds)
        self.loaded_bytes = learned.loaded_bytes
        self.load_s = learned.load_s
        self.queue = ItemQueue()
        self.halves: deque[list[Waiting]] = deque()  # of batches that fell; they run as they are
        self.phase = Phase.ABSENT
        self.device = ""
        self.bytes = 0  # set aside for it on its device
        self.in_flight = 0
        self.loaded_at = 0.0
        self.used_at = 0.0
        self.useful_s = 0.0
        self.start_on_clock: float | None = None  # where its next batch was placed among those of other models
        self.last_batch_s = 0.0
        self.load_failures = 0
        self.not_before = 0.0  # loading failed: not again until then
        self.trouble = ""  # why
        self.leaving = False  # no longer configured: gone for good once it is idle
        self.past_held_until = 0.0  # no room can be made for an item: until then others go before it
        self.room_asked_at: float | None = None  # others were told to make room for it
        self._limits: dict[int, BatchLimits] = {}  # by the room there is
        self._limits_from: tuple[object, ...] = ()  # what they were worked out from

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
        """How long what waits will take, overheads of batches left out."""
        seconds = self.duration.growth
        return seconds.k1 * self.queue.tokens + seconds.k2 * self.queue.tokens_squared

    def limits(self, room: int) -> BatchLimits:
        """As worked out before, if nothing was learned since and the room is about the same."""
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
    own_at_start_bytes: int  # held by this process before it held any model
    ledger: Ledger = field(default_factory=Ledger)
    kept_for_loading_bytes: int = 0  # batches leave it alone: a model is about to come

    @property
    def in_flight(self) -> int:
        return len(self.ledger.batches)

    def room_for_model(self, budget: MemoryBudget) -> int:
        return budget.room_for_model(self.memory, self.ledger, self.own_at_start_bytes) - self.kept_for_loading_bytes

    def room_for_batch(self, budget: MemoryBudget, before: int | None = None) -> int:
        room = budget.room_for_batch(self.memory, self.ledger, self.own_at_start_bytes, before)
        return room - self.kept_for_loading_bytes
