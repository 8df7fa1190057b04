"""The values of the planner: models, items, batches, device memory, events and decisions.

The planner is told events and answers with decisions. Both are plain values, and events carry their own time.
"""

from msgspec import Struct

#: The device of a worker that computes on the processor.
CPU = "cpu"


class DeviceMemory(Struct, frozen=True, gc=False):
    """One device's memory as of one reading."""

    total_bytes: int
    free_bytes: int
    own_bytes: int | None = None  # held by this process; None: the device cannot tell
    reusable_bytes: int = 0  # part of our own that an allocator holds unused; only the backend knows it

    @property
    def others_bytes(self) -> int | None:
        """Bytes held by all other processes, including the driver."""
        return None if self.own_bytes is None else max(0, self.total_bytes - self.free_bytes - self.own_bytes)


class Growth(Struct, frozen=True, gc=False):
    """What a batch of `count` items padded to `length` takes: k0 + k1·count·length + k2·count·length².

    The same formula serves bytes and seconds.
    """

    k0: float = 0.0
    k1: float = 0.0
    k2: float = 0.0

    def of(self, count: int, length: int) -> float:
        return self.k0 + count * self.of_item(length)

    def of_item(self, length: int) -> float:
        return (self.k1 + self.k2 * length) * length


class ModelSpec(Struct, frozen=True):
    """What the planner must know about a model before its first load."""

    name: str
    weights_bytes: int  # size on disk; what a load really takes is learned
    activation: Growth  # upper bound on the bytes of a batch; the planner uses it until batches were measured
    seconds: Growth = Growth(0.005, 0.0002, 1e-7)  # rough duration of a batch
    fingerprint: str = ""  # of weights, backend and precision: the key of what was learned; "": the name is the key
    length_max: int = 512  # the caller must cut or refuse longer items
    batch_items_max: int = 1024  # 1 for models that batch by themselves
    batch_seconds_max: float = 2.0  # the latency bound: only a batch of a single item may take longer
    in_flight_max: int = 2  # batches that share the one copy of the weights
    queue_items_max: int = 8192
    pinned: bool = False  # loaded at once and never evicted
    priority: int = 2  # 0 is critical, 4 the least; a model makes room only for one at least as important
    weight: float = 1.0  # its share of the device when several models have work

    @property
    def key(self) -> str:
        return self.fingerprint or self.name


class Item(Struct, frozen=True, gc=False):
    """One text for one model. Its `id` is unique for the planner's lifetime."""

    id: int
    model: str
    length: int  # tokens, including special ones and, for generation, those that may be generated
    app: str = ""
    priority: int = 2  # 0 is critical, 4 the least; each step towards 0 doubles the share


class Batch(Struct, frozen=True, gc=False):
    id: int
    model: str
    items: tuple[int, ...]
    length: int  # every item is padded to this length
    bytes: int  # set aside for its activations
    seconds: float  # as predicted


# Events: what happened.


class ModelsConfigured(Struct, frozen=True, tag=True):
    """The complete list of models. A model that is not listed is removed once it is idle."""

    at: float
    models: tuple[ModelSpec, ...]
    weight_of: dict[str, float] = {}  # app → its share; 1 if it is not listed


class ItemsArrived(Struct, frozen=True, tag=True):
    """The items of one request. They are accepted or refused together."""

    at: float
    items: tuple[Item, ...]


class ItemsCancelled(Struct, frozen=True, tag=True):
    """Nobody waits for these items any more. Items that are already in a batch stay in it."""

    at: float
    ids: tuple[int, ...]


class MemoryRead(Struct, frozen=True, tag=True):
    at: float
    device: str
    memory: DeviceMemory


class ModelLoaded(Struct, frozen=True, tag=True):
    at: float
    model: str
    bytes: int | None = None  # what the load really took, if it could be measured
    took_s: float = 0.0


class ModelLoadFailed(Struct, frozen=True, tag=True):
    at: float
    model: str
    reason: str
    out_of_memory: bool = False  # if true, waiting may help; if false, the model's items fail


class ModelEvicted(Struct, frozen=True, tag=True):
    at: float
    model: str


class BatchEnded(Struct, frozen=True, tag=True):
    """Every item of the batch has its answer or its error."""

    at: float
    batch: int
    took_s: float | None = None  # compute time only; None: unknown, because the batch overlapped with others
    peak_bytes: int | None = None  # peak of the activations above what was held before; None: unknown


class BatchOutOfMemory(Struct, frozen=True, tag=True):
    """The batch ran out of memory, and none of its items has an answer.

    The event is sent outside the except block, after all memory of the batch was released. A memory reading taken
    after that comes with it, so the planner can tell another process's use from a wrong prediction.
    """

    at: float
    batch: int


class BatchReturned(Struct, frozen=True, tag=True):
    """The batch had not begun when another one on its device ran out of memory.

    Its items are planned again with the memory that is free now.
    """

    at: float
    batch: int


class BatchFailed(Struct, frozen=True, tag=True):
    """The whole batch failed, and it is unknown which item caused it. It is halved until that item is alone."""

    at: float
    batch: int
    reason: str


class PlannerWoke(Struct, frozen=True, tag=True):
    at: float


PlannerEvent = (
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


# Decisions: what to do now.


class RunBatch(Struct, frozen=True, tag=True):
    batch: Batch
    device: str


class LoadModel(Struct, frozen=True, tag=True):
    model: str
    device: str
    bytes: int  # set aside for it


class EvictModel(Struct, frozen=True, tag=True):
    """Drop every reference, collect garbage and trim the heap.

    No batch of the model is in flight, and none starts until the model is loaded again.
    """

    model: str


class RefuseItems(Struct, frozen=True, tag=True):
    """The request is refused: 429 with Retry-After, or 413 if waiting cannot help (`retry_after_s` is None)."""

    ids: tuple[int, ...]
    reason: str
    retry_after_s: float | None


class FailItems(Struct, frozen=True, tag=True):
    """These items were accepted, but they can no longer be computed."""

    ids: tuple[int, ...]
    reason: str
    out_of_memory: bool = False


class WakePlannerAt(Struct, frozen=True, tag=True):
    """Read the memory at this time and send `MemoryRead`, unless another event happens first.

    A newer `WakePlannerAt` replaces the older one.
    """

    at: float


PlannerDecision = RunBatch | LoadModel | EvictModel | RefuseItems | FailItems | WakePlannerAt
