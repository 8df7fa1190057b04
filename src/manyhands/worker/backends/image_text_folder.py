"""Reads a published model of images and texts (CLIP, SigLIP) without loading its weights.

Such a model has two towers, one for images and one for texts. Both give vectors of the same space.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from manyhands.errors import UsageError
from manyhands.worker.backends.safetensors_weights import weight_files
from manyhands.worker.values.framing import Framing

FAMILIES = ("clip", "siglip")
#: The activations that onnxruntime has an operator for.
ACTIVATIONS = ("quick_gelu", "gelu", "gelu_pytorch_tanh")

Modality = Literal["text", "image"]

_CONFIG, _PREPROCESSOR, _TOKENIZER = "config.json", "preprocessor_config.json", "tokenizer.json"


class TowerSizes(Struct, frozen=True, kw_only=True):
    hidden: int
    inner: int
    layers: int
    heads: int
    activation: str
    norm_epsilon: float


class ImageTextFolder(Struct, frozen=True, kw_only=True):
    folder: Path
    family: str
    text: TowerSizes
    image: TowerSizes
    width: int  # numbers in a vector
    positions: int  # tokens of a text
    pad_id: int
    eos_id: int
    framing: Framing
    patch: int  # width and height of a patch in pixels
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    scale: float  # a pixel's value times this is between 0 and 1
    weights: tuple[Path, ...]

    @property
    def tokenizer_file(self) -> Path:
        return self.folder / _TOKENIZER

    @property
    def image_tokens(self) -> int:
        """What an image costs: its pixels by the patch. CLIP adds one token for the whole image."""
        return (self.framing.size // self.patch) ** 2 + (self.family == "clip")

    def fingerprint(self, modality: Modality) -> str:
        told = hashlib.sha256((self.folder / _CONFIG).read_bytes())
        for file in self.weights:
            with file.open("rb") as opened:
                told.update(f"{file.stat().st_size}".encode() + opened.read(65_536))
        return f"onnx-fp32-{modality}-{told.hexdigest()[:16]}"


def is_image_text(folder: Path) -> bool:
    return _json(folder / _CONFIG).get("model_type") in FAMILIES


def read_image_text(folder: Path) -> ImageTextFolder:
    config, shown = _json(folder / _CONFIG), _json(folder / _PREPROCESSOR)
    family, text, image = config["model_type"], config.get("text_config") or {}, config.get("vision_config") or {}
    if not (folder / _TOKENIZER).is_file():
        raise UsageError(f"`{folder}` has no {_TOKENIZER}", "only models with such a tokenizer file can be served")
    weights = tuple(weight_files(folder))
    if not weights:
        raise UsageError(f"`{folder}` has no model.safetensors", "convert the model's weights to safetensors")
    is_clip = family == "clip"
    size, patch = int(image.get("image_size", 224)), int(image.get("patch_size", 32 if is_clip else 16))
    text_sizes = _sizes(folder, text, 512 if is_clip else 768, is_clip)
    return ImageTextFolder(
        folder=folder,
        family=family,
        text=text_sizes,
        image=_sizes(folder, image, 768, is_clip),
        width=int(config.get("projection_dim", 512) if is_clip else text.get("projection_size", text_sizes.hidden)),
        positions=int(text.get("max_position_embeddings", 77 if is_clip else 64)),
        pad_id=_id(text.get("pad_token_id"), 1),
        eos_id=_id(text.get("eos_token_id"), 49_407),
        framing=_framing(folder, shown, size),
        patch=patch,
        mean=_triple(folder, shown, "image_mean"),
        spread=_triple(folder, shown, "image_std"),
        scale=float(shown.get("rescale_factor", 1 / 255)),
        weights=weights,
    )


def _sizes(folder: Path, told: dict[str, Any], hidden: int, is_clip: bool) -> TowerSizes:
    activation = told.get("hidden_act", "quick_gelu" if is_clip else "gelu_pytorch_tanh")
    if activation not in ACTIVATIONS:
        raise UsageError(f"`{folder}` uses `{activation}`; the onnx backend can build {', '.join(ACTIVATIONS)}")
    hidden = int(told.get("hidden_size", hidden))
    return TowerSizes(
        hidden=hidden,
        inner=int(told.get("intermediate_size", 4 * hidden)),
        layers=int(told.get("num_hidden_layers", 12)),
        heads=int(told.get("num_attention_heads", hidden // 64)),
        activation=activation,
        norm_epsilon=float(told.get("layer_norm_eps", 1e-5 if is_clip else 1e-6)),
    )


def _framing(folder: Path, shown: dict[str, Any], size: int) -> Framing:
    """The steps of preprocessor_config.json. Older files write one number where newer ones name the sides."""
    wanted, cut = _sides(shown.get("size", size)), _sides(shown.get("crop_size", size))
    resample = int(shown.get("resample", 3))
    if "shortest_edge" in wanted and shown.get("do_center_crop", True):
        framing = Framing(
            size=cut.get("height", size), fit="cover", shortest=wanted["shortest_edge"], resample=resample
        )
    else:
        framing = Framing(size=wanted.get("height", size), resample=resample)
    if framing.size != size or (framing.fit == "cover" and framing.shortest < size):
        raise UsageError(
            f"`{folder}`: {_PREPROCESSOR} makes images of {framing.size} pixels, but the model takes {size}"
        )
    return framing


def _sides(told: Any) -> dict[str, int]:
    return {"shortest_edge": told, "height": told} if isinstance(told, int) else dict(told)


def _triple(folder: Path, shown: dict[str, Any], field: str) -> tuple[float, ...]:
    told = tuple(float(each) for each in shown.get(field, ()))
    if len(told) != 3:
        raise UsageError(f"`{folder}`: `{field}` of {_PREPROCESSOR} must be three numbers")
    return told


def _id(told: Any, otherwise: int) -> int:
    return otherwise if told is None else int(told)


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"`{file.parent}` has no {file.name}", "copy it from where the model was published") from None
    except ValueError as error:
        raise UsageError(f"`{file}` is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"`{file}` is not a JSON object")
    return found
