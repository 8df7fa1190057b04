"""What every backend promises. It describes a model before the model is loaded, and computes once it is loaded.

- Making a backend reads only small files. It touches no weights, no device and no heavy library.
- `load` and all methods of a loaded model run on worker threads. Several threads may call `compute` at once.
- `compute` returns one output for each row, in order. If the whole batch fails, it raises. The caller tells
  out of memory from other causes (`out_of_memory.py`).
- After `close`, nothing of the model is held.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct

from manyhands.worker.values.framing import Framing
from manyhands.worker.values.planner_values import Growth, ModelSpec

#: Decoded images that wait for a batch. More of them are refused, as texts are when the queue is full.
WAITING_IMAGES_BYTES_MAX = 256 * 2**20

ModelTask = Literal["embed", "classify", "rerank", "generate"]


class Tokens(NamedTuple):
    """One text, or a pair of them, as an encoder takes it."""

    ids: Sequence[int]
    types: Sequence[int] = ()  # for each token, which text of a pair it belongs to; empty: all belong to the first


class Pixels(NamedTuple):
    """One image, resized as its model wants it."""

    values: bytes  # height by width by colour
    length: int  # what it costs: its pixels by the model's patches


class Chat(NamedTuple):
    """One request for generated text, in OpenAI's own fields."""

    request: dict[str, Any]
    #: Called with each piece of a streamed answer, on a worker thread. It returns True to stop the answer.
    told: Callable[[dict[str, Any]], bool] | None = None


ModelInput = Tokens | Pixels | Chat
#: An encoder's numbers (a row of float32), or a generator's answer in OpenAI's form.
Output = Any


class Loaded(Protocol):
    def compute(self, rows: Sequence[Any], length: int) -> Sequence[Output]:
        """Compute one output for each row. Every row of tokens is padded to `length`."""

    def give_back(self) -> None:
        """Hand back memory that is kept for the next batch."""

    def close(self) -> None: ...


class Description(Struct, frozen=True, kw_only=True):
    """A model as it is known before it is loaded."""

    name: str
    task: ModelTask
    backend: str
    weights_bytes: int
    fingerprint: str
    length_max: int  # tokens of a text, or of a prompt and its answer together
    width: int = 0  # numbers in an embedding, or labels
    labels: tuple[str, ...] = ()
    tokenizer_file: str = ""  # only for encoders of texts
    modality: Literal["text", "image"] = "text"
    framing: Framing | None = None  # only for encoders of images
    is_fixed_length: bool = False  # every item is computed at `length_max`
    activation: Growth = Growth()
    slots: int = 0  # only for generators: how many answers are generated at once

    def spec(self, **of_config: Any) -> ModelSpec:
        if self.task == "generate":
            of_config |= {"batch_items_max": 1, "in_flight_max": self.slots, "batch_seconds_max": 600.0}
        if self.framing is not None:
            of_config |= {"queue_items_max": max(1, WAITING_IMAGES_BYTES_MAX // self.framing.image_bytes)}
        return ModelSpec(
            name=self.name,
            weights_bytes=self.weights_bytes,
            activation=self.activation,
            fingerprint=self.fingerprint,
            length_max=self.length_max,
            **of_config,
        )


class Backend(Protocol):
    """One model that can be loaded, evicted, and loaded again."""

    description: Description

    def load(self, device: str = "cpu") -> Loaded:
        """Load the model on `cpu` or `cuda:N`, where N is the device's number as programs see it."""
