"""The values the model worker speaks in: models, items, batches, device memory, and what can happen and be wanted.

The planner is told events and answers with decisions; both are plain values that carry their own time.
"""

from msgspec import Struct

#: The device of a worker that computes on the processor.
CPU = "cpu"


class DeviceMemory(Struct, frozen=True, gc=False):
    """One device's memory as of one reading."""

    total_bytes: int
    free_bytes: int
    own_bytes: int | None = None  # held by this process; None: the device cannot tell
    reusable_bytes: int = 0  # of our own, held by an allocator and not in use: the backend knows, the device does not

    @property
    def others_bytes(self) -> int | None:
        """Held by everyone else, the driver included."""
        return None if self.own_bytes is None else max(0, self.total_bytes - self.free_bytes - self.own_bytes)


class Growth(Struct, frozen=True, gc=False):
    """What a batch of `count` items padded to `length` takes: k0 + k1·count·length + k2·count·length².

    The same shape serves bytes and seconds.
    """

    k0: float = 0.0
    k1: float = 0.0
    k2: float = 0.0

    def of(self, count: int, length: int) -> float:
        return self.k0 + count * self.of_item(length)

    def of_item(self, length: int) -> float:
        return (self.k1 + self.k2 * length) * length


class ModelSpec(Struct, frozen=True):
    """What the planner must know of a model before it was ever loaded."""

    name: str
    weights_bytes: int  # as on disk; what loading really took is learned
    activation: Growth  # bytes of a batch, from above: what is planned with until batches taught better
    seconds: Growth = Growth(0.005, 0.0002, 1e-7)  # of a batch, roughly
    fingerprint: str = ""  # under which what was learned is kept: weights, backend and precision; "" is the name
    length_max: int = 512  # longer items are the caller's to cut or refuse
    batch_items_max: int = 1024  # 1 for models that batch by themselves
    batch_seconds_max: float = 2.0  # the latency bound: one batch never takes longer than this, unless one item does
    in_flight_max: int = 2  # batches over the one copy of the weights
    queue_items_max: int = 8192
    pinned: bool = False  # loaded at once and never evicted
    priority: int = 2  # 0 critical … 4; a model makes room only for one at least as important
    weight: float = 1.0  # its share of the device when several models have work

    @property
    def key(self) -> str:
        return self.fingerprint or self.name


class Item(Struct, frozen=True, gc=False):
    """One text for one model; `id` is unique in the life of the planner."""

    id: int
    model: str
    length: int  # tokens, special ones included; for generation with those that may be generated
    app: str = ""
    priority: int = 2  # 0 critical … 4: twice the share for each step up


class Batch(Struct, frozen=True, gc=False):
    id: int
    model: str
    items: tuple[int, ...]
    length: int  # every item is padded to it
    bytes: int  # set aside for its activations
    seconds: float  # as predicted


# Events: what happened.


class ModelsConfigured(Struct, frozen=True, tag=True):
    """All models there are; those left out are forgotten once they are idle."""

    at: float
    models: tuple[ModelSpec, ...]
    weight_of: dict[str, float] = {}  # app → its share; 1 if not named


class ItemsArrived(Struct, frozen=True, tag=True):
    """One request's items: taken in whole or refused whole."""

    at: float
    items: tuple[Item, ...]


class ItemsCancelled(Struct, frozen=True, tag=True):
    """Nobody waits for them any more; those in a batch already are left in it."""

    at: float
    ids: tuple[int, ...]


class MemoryRead(Struct, frozen=True, tag=True):
    at: float
    device: str
    memory: DeviceMemory


class ModelLoaded(Struct, frozen=True, tag=True):
    at: float
    model: str
    bytes: int | None = None  # what loading really took, where it could be measured
    took_s: float = 0.0


class ModelLoadFailed(Struct, frozen=True, tag=True):
    at: float
    model: str
    reason: str
    out_of_memory: bool = False  # waiting may help; otherwise its items fail


class ModelEvicted(Struct, frozen=True, tag=True):
    at: float
    model: str


class BatchEnded(Struct, frozen=True, tag=True):
    """Every item of the batch has its answer, good or bad."""

    at: float
    batch: int
    took_s: float | None = None  # computing alone; None: not known (it overlapped with others)
    peak_bytes: int | None = None  # of activations, over what was held before; None: not known


class BatchOutOfMemory(Struct, frozen=True, tag=True):
    """No item of the batch has an answer. Sent after everything of the batch was let go, outside the except block.

    Told with a reading of the memory after that, so that a neighbour's use is told from a wrong prediction.
    """

    at: float
    batch: int


class BatchReturned(Struct, frozen=True, tag=True):
    """Given out and not begun when another of its device ran out of memory: to be planned anew, from what there is."""

    at: float
    batch: int


class BatchFailed(Struct, frozen=True, tag=True):
    """The batch fell as a whole and nobody knows which item did it: it is halved until the culprit stands alone."""

    at: float
    batch: int
    reason: str


class PlannerWoke(Struct, frozen=True, tag=True):
    at: float


Event = (
    ModelsConfigured
    | ItemsArrived
    | ItemsCancelled
    | MemoryRead
    | ModelLoaded
    | ModelLoadFailed
    | ModelEvicted
    | BatchEnded
    | BatchOutOfMemory
    | BatchReturned
    | BatchFailed
    | PlannerWoke
)


# Decisions: what is to be done now.


class RunBatch(Struct, frozen=True, tag=True):
    batch: Batch
    device: str


class LoadModel(Struct, frozen=True, tag=True):
    model: str
    device: str
    bytes: int  # set aside for it


class EvictModel(Struct, frozen=True, tag=True):
    """Drop every reference, collect, trim. No batch of it is in flight, and none starts until it is loaded again."""

    model: str


class RefuseItems(Struct, frozen=True, tag=True):
    """Not taken in: 429 with Retry-After, or 413 where waiting cannot help (`retry_after_s` None)."""

    ids: tuple[int, ...]
    reason: str
    retry_after_s: float | None


class FailItems(Struct, frozen=True, tag=True):
    """Taken in, and now without hope."""

    ids: tuple[int, ...]
    reason: str
    out_of_memory: bool = False


class WakePlannerAt(Struct, frozen=True, tag=True):
    """Read the memory and send `MemoryRead` then, unless something else happens first. The latest one counts."""

    at: float


Decision = RunBatch | LoadModel | EvictModel | RefuseItems | FailItems | WakePlannerAt
