"""Reads a published encoder without loading its weights: a folder with config.json, a tokenizer and weights."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from manyhands.errors import UsageError
from manyhands.worker.backends.backend import ModelTask
from manyhands.worker.backends.safetensors_weights import weight_files

Pooling = Literal["mean", "cls"]
TOKENIZER = "tokenizer.json"
ONNX_FILES = ("model.onnx", "onnx/model.onnx")


class EncoderLayout(Struct, frozen=True):
    """How one family names its sizes and tensors. The defaults are those of BERT."""

    prefix: str
    hidden: str = "hidden_size"
    inner: str = "intermediate_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    activation: str = "hidden_act"
    positions_skipped: int = 0  # RoBERTa reserves its first positions for padding


LAYOUTS = {
    "bert": EncoderLayout("bert."),
    "roberta": EncoderLayout("roberta.", positions_skipped=2),
    "xlm-roberta": EncoderLayout("roberta.", positions_skipped=2),
    "camembert": EncoderLayout("roberta.", positions_skipped=2),
    "distilbert": EncoderLayout("distilbert.", "dim", "hidden_dim", "n_layers", "n_heads", "activation"),
}


class EncoderFolder(Struct, frozen=True, kw_only=True):
    folder: Path
    family: str  # `model_type` of config.json
    hidden: int
    inner: int
    layers: int
    heads: int
    positions: int
    activation: str
    norm_epsilon: float
    pad_id: int
    has_types: bool
    labels: tuple[str, ...]
    task: ModelTask
    pooling: Pooling
    normalised: bool
    length_max: int
    weights: tuple[Path, ...]
    onnx_file: Path | None

    @property
    def layout(self) -> EncoderLayout:
        return LAYOUTS.get(self.family, LAYOUTS["bert"])

    @property
    def tokenizer_file(self) -> Path:
        return self.folder / TOKENIZER

    @property
    def weights_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.weights or (self.onnx_file,) if file is not None)

    def fingerprint(self, backend: str) -> str:
        """The same for equal weights, even under another name or in another folder."""
        told = hashlib.sha256((self.folder / "config.json").read_bytes())
        for file in self.weights or (self.onnx_file,):
            if file is not None:
                with file.open("rb") as opened:
                    told.update(f"{file.stat().st_size}".encode() + opened.read(65_536))
        return f"{backend}-fp32-{told.hexdigest()[:16]}"


def read_encoder(folder: Path, task: ModelTask | None) -> EncoderFolder:
    config = _json(folder / "config.json")
    if not (folder / TOKENIZER).is_file():
        raise UsageError(f"`{folder}` has no {TOKENIZER}", "only models with such a tokenizer file can be served")
    family = config.get("model_type", "")
    layout = LAYOUTS.get(family, LAYOUTS["bert"])
    sentence = _json(folder / "sentence_bert_config.json", missing={})
    positions = int(config.get("max_position_embeddings", 512)) - layout.positions_skipped
    labels = _labels(config)
    return EncoderFolder(
        folder=folder,
        family=family,
        hidden=int(config.get(layout.hidden, 0)),
        inner=int(config.get(layout.inner, 0)),
        layers=int(config.get(layout.layers, 0)),
        heads=int(config.get(layout.heads, 1)),
        positions=positions,
        activation=config.get(layout.activation, "gelu"),
        norm_epsilon=float(config.get("layer_norm_eps", 1e-12)),
        pad_id=int(config.get("pad_token_id") or 0),
        has_types=family != "distilbert",
        labels=labels,
        task=task or _task_of(config, labels),
        pooling=_pooling_of(folder),
        normalised=_is_normalised(folder),
        length_max=min(positions, int(sentence.get("max_seq_length") or positions)),
        weights=tuple(weight_files(folder)),
        onnx_file=next((folder / name for name in ONNX_FILES if (folder / name).is_file()), None),
    )


def _json(file: Path, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    if missing is not None and not file.is_file():
        return missing
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise UsageError(f"`{file.parent}` has no {file.name}", "name a folder that holds a config.json") from None
    except ValueError as error:
        raise UsageError(f"`{file}` is not JSON: {error}") from None
    return found if isinstance(found, dict) else {"": found}


def _labels(config: dict[str, Any]) -> tuple[str, ...]:
    named = config.get("id2label")
    if isinstance(named, dict) and named:
        return tuple(named[key] for key in sorted(named, key=int))
    return tuple(f"LABEL_{number}" for number in range(int(config.get("num_labels", 2))))


def _task_of(config: dict[str, Any], labels: tuple[str, ...]) -> ModelTask:
    if any(str(name).endswith("ForSequenceClassification") for name in config.get("architectures") or ()):
        return "rerank" if len(labels) == 1 else "classify"
    return "embed"


def _pooling_of(folder: Path) -> Pooling:
    told = _json(folder / "1_Pooling" / "config.json", missing={})
    wanted = [name for name, value in told.items() if name.startswith("pooling_mode_") and value is True]
    if not wanted or wanted == ["pooling_mode_mean_tokens"]:
        return "mean"
    if wanted == ["pooling_mode_cls_token"]:
        return "cls"
    raise UsageError(
        f"`{folder}` pools by {' and '.join(wanted)}, which is not supported", "use a model that pools by mean or cls"
    )


def _is_normalised(folder: Path) -> bool:
    """Whether vectors have length 1. This is the default; a sentence-transformers folder states it itself."""
    told = _json(folder / "modules.json", missing={})
    modules = told.get("", [])
    return not modules or any(str(module.get("type", "")).endswith("Normalize") for module in modules)
