"""What every backend promises: a model told before it is loaded, and computed on once it is.

- `described` reads small files only; no weights, no device, no heavy library.
- `load` and all of a loaded model are called on worker threads. `compute` may be called by several threads at once.
- `compute` returns one output for each row, in order. What makes the whole batch fall is raised, and the caller tells
  an exhausted memory from other causes (`out_of_memory.py`).
- After `close` nothing of the model is held.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct

from manyhands.worker.values.planner_values import Growth, ModelSpec

Task = Literal["embed", "classify", "rerank", "generate"]


class Tokens(NamedTuple):
    """One text, or a pair of them, as an encoder takes it."""

    ids: Sequence[int]
    types: Sequence[int] = ()  # which of a pair each token is of; empty: all of the first


class Chat(NamedTuple):
    """One request for generated text, in OpenAI's own fields."""

    request: dict[str, Any]
    #: Told each piece of a streamed answer, on a worker thread; True: nobody wants any more.
    told: Callable[[dict[str, Any]], bool] | None = None


Row = Tokens | Chat
#: An encoder's numbers (a row of float32), or a generator's answer in OpenAI's form.
Output = Any


class Loaded(Protocol):
    def compute(self, rows: Sequence[Any], length: int) -> Sequence[Output]:
        """`length`: what every row of tokens is padded to."""

    def give_back(self) -> None:
        """Hand back memory that is kept for the next batch."""

    def close(self) -> None: ...


class Description(Struct, frozen=True, kw_only=True):
    """A model as it is known before it is loaded."""

    name: str
    task: Task
    backend: str
    weights_bytes: int
    fingerprint: str
    length_max: int  # tokens: of a text, or of a prompt and its answer
    width: int = 0  # numbers in an embedding, or labels
    labels: tuple[str, ...] = ()
    tokenizer_file: str = ""  # of encoders
    activation: Growth = Growth()
    slots: int = 0  # of generators: answers made at once

    def spec(self, **of_config: Any) -> ModelSpec:
        if self.task == "generate":
            of_config |= {"batch_items_max": 1, "in_flight_max": self.slots, "batch_seconds_max": 600.0}
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
        """`device`: `cpu`, or `cuda:N` as programs number those that they see."""
