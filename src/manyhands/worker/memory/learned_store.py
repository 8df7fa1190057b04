"""What models and their batches took, kept across runs: one JSON file, replaced whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from manyhands.worker.memory.fitting import SeenBatch


class Bound(Struct, frozen=True, gc=False):
    """A batch that ran out of memory although the prediction said it would fit."""

    count: int
    length: int
    room_bytes: int  # what was thought to be free: with plainly more, it may be tried again


class Learned(Struct, frozen=True, omit_defaults=True):
    """What is known of one model."""

    loaded_bytes: int = 0  # the most that loading took
    load_s: float = 0.0
    activations: tuple[SeenBatch, ...] = ()
    durations: tuple[SeenBatch, ...] = ()
    bounds: tuple[Bound, ...] = ()


class LearnedStore:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""  # why nothing could be read or written; "" when all is well

    def load(self) -> dict[str, Learned]:
        """By fingerprint; empty if there is nothing that can be read, for all of it can be learned again."""
        self.trouble = ""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, Learned])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self.trouble = f"what was learned of models cannot be read from {self.path}: {error}"
            return {}

    def save(self, learned: Mapping[str, Learned]) -> None:
        """Never fails for long work's sake: what goes wrong is said in `trouble`."""
        self.trouble = ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        except OSError as error:
            self.trouble = f"what was learned of models cannot be kept in {self.path}: {error}"
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(dict(learned)))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except OSError as error:
            self.trouble = f"what was learned of models cannot be kept in {self.path}: {error}"
            with contextlib.suppress(OSError):
                os.unlink(name)
