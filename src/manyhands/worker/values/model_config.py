"""One model that the worker hosts, as declared by a `[models.NAME]` table."""

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
    package: Annotated[str, says("An installed Python package that contains such a folder or file.")] = ""
    task: Annotated[
        Literal["", "embed", "classify", "rerank", "generate"],
        says("What the model is used for. By default, the model's own files decide."),
    ] = ""
    backend: Annotated[
        Literal["", "onnx", "torch", "llamacpp"],
        says("The library that computes it. The default is llamacpp for .gguf files and onnx for folders."),
    ] = ""
    pinned: Annotated[bool, says("The model is loaded at once and never evicted.")] = False
    priority: Annotated[
        Priority,
        says(
            "0 is critical and 4 is least important. A model makes room only for one that is at least as important.",
            PRIORITY_HINT,
        ),
    ] = 2
    weight: Annotated[Positive, says("Its share of the device when several models have work.")] = 1.0
    truncate: Annotated[bool, says("Whether texts that are too long are cut. Otherwise they are refused.")] = False
    length_max: Annotated[
        Count | None,
        says("How many tokens a text may have. By default, the model's own files decide."),
    ] = None
    images_from: Annotated[
        tuple[str, ...],
        says(
            "For models of images: folders and origins (`https://host`) that images may be read from. "
            "Images in the request itself and on loopback are always read."
        ),
    ] = ()
    slots: Annotated[Count, says("For `generate`: how many answers are generated at once.")] = 2
    context: Annotated[
        int,
        rule(minimum=64),
        says("For `generate`: how many tokens a prompt and its answer may have together, for each slot."),
    ] = 2048
