"""One model that the worker hosts, as a `[models.NAME]` table declares it."""

from typing import Literal

from msgspec import Struct


class ModelConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A model that `manyhands worker` hosts. Paths are relative to the workspace."""

    name: str = ""  # the table's key
    path: str = ""  # a folder with config.json, tokenizer and weights; or a .gguf file
    package: str = ""  # an installed Python package that carries such a folder or file
    task: Literal["", "embed", "classify", "rerank", "generate"] = ""  # "": as the model's own files say
    backend: Literal["", "onnx", "torch", "llamacpp"] = ""  # "": llamacpp for .gguf files, onnx for folders
    pinned: bool = False  # loaded at once and never evicted
    priority: int = 2  # 0 critical … 4: a model makes room only for one at least as important
    weight: float = 1.0  # its share of the device when several models have work
    truncate: bool = False  # over-long texts are cut; otherwise refused
    length_max: int | None = None  # tokens; left out: as the model's own files say
    slots: int = 2  # of generate: answers made at once
    context: int = 2048  # of generate: tokens of a prompt and its answer, for each slot
