"""Stores what models and their batches took across runs, in one JSON file that is replaced atomically."""

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
    room_bytes: int  # what seemed to be free; with much more than that, the batch may be tried again


class Learned(Struct, frozen=True, omit_defaults=True):
    """What was learned about one model."""

    loaded_bytes: int = 0  # the most that a load took
    load_s: float = 0.0
    activations: tuple[SeenBatch, ...] = ()
    durations: tuple[SeenBatch, ...] = ()
    bounds: tuple[Bound, ...] = ()


class LearnedStore:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble = ""  # why the file could not be read or written; "" if it could

    def load(self) -> dict[str, Learned]:
        """What was learned, by fingerprint. It is empty if the file cannot be read: all of it can be learned again."""
        self.trouble = ""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, Learned])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self.trouble = f"cannot read what was learned about models from {self.path}: {error}"
            return {}

    def save(self, learned: Mapping[str, Learned]) -> None:
        """Write the file. Errors go to `trouble` and are never raised, so that the worker continues."""
        self.trouble = ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        except OSError as error:
            self.trouble = f"cannot store what was learned about models in {self.path}: {error}"
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(dict(learned)))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except OSError as error:
            self.trouble = f"cannot store what was learned about models in {self.path}: {error}"
            with contextlib.suppress(OSError):
                os.unlink(name)
