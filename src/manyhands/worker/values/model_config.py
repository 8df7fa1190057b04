"""One model that the worker hosts, as a `[models.NAME]` table declares it."""

from typing import Annotated, Literal

from msgspec import Struct

from manyhands.field_rules import PRIORITY_HINT, TABLE_KEY, Count, Positive, Priority, rule, says


class ModelConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A model that `manyhands worker` hosts. Paths are relative to the workspace."""

    name: Annotated[str, TABLE_KEY] = ""
    path: Annotated[
        str,
        says("A folder with config.json, tokenizer and weights, or a .gguf file."),
    ] = ""
    package: Annotated[str, says("An installed Python package that has such a folder or file in it.")] = ""
    task: Annotated[
        Literal["", "embed", "classify", "rerank", "generate"],
        says("What it is used for. Left out: what the model's own files say."),
    ] = ""
    backend: Annotated[
        Literal["", "onnx", "torch", "llamacpp"],
        says("What computes it. Left out: llamacpp for .gguf files, onnx for folders."),
    ] = ""
    pinned: Annotated[bool, says("It is loaded at once and never evicted.")] = False
    priority: Annotated[
        Priority,
        says(
            "0 is critical, 4 the least. A model makes room only for one that is at least as important.", PRIORITY_HINT
        ),
    ] = 2
    weight: Annotated[Positive, says("Its share of the device when several models have work.")] = 1.0
    truncate: Annotated[bool, says("Texts that are too long are cut. Otherwise they are refused.")] = False
    length_max: Annotated[
        Count | None,
        says("The most tokens of a text. Left out: what the model's own files say."),
    ] = None
    slots: Annotated[Count, says("For `generate`: how many answers are made at once.")] = 2
    context: Annotated[
        int,
        rule(minimum=64),
        says("For `generate`: tokens of a prompt and its answer, for each slot."),
    ] = 2048
