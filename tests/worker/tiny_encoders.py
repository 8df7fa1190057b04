"""Writes encoders with a few thousand random weights, in the layouts in which their families are published."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

HIDDEN, INNER, LAYERS, HEADS, POSITIONS = 32, 64, 2, 4, 64


def write_bert(folder: Path, tokenizer: Path, labels: list[str] | None = None, nan_token: int | None = None) -> Path:
    """A BERT that embeds. With labels it classifies, and with one label it reranks. For `nan_token` it returns NaN."""
    folder.mkdir(parents=True)
    vocabulary = len(json.loads(tokenizer.read_bytes())["model"]["vocab"])
    config: dict[str, Any] = {
        "model_type": "bert",
        "architectures": ["BertForSequenceClassification" if labels else "BertModel"],
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "vocab_size": vocabulary,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    if labels:
        config["id2label"] = {str(number): label for number, label in enumerate(labels)}
        config["label2id"] = {label: number for number, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    weights = _bert_weights(vocabulary, labels, np.random.default_rng(7))
    if nan_token is not None:
        weights["embeddings.word_embeddings.weight"][nan_token] = np.nan
    write_safetensors(folder / "model.safetensors", weights)
    return folder


def _bert_weights(vocabulary: int, labels: list[str] | None, random: np.random.Generator) -> dict[str, np.ndarray]:
    weights: dict[str, np.ndarray] = {}
    prefix = "bert." if labels else ""

    def linear(name: str, inputs: int, outputs: int) -> None:
        weights[f"{name}.weight"] = random.standard_normal((outputs, inputs)) * 0.2
        weights[f"{name}.bias"] = random.standard_normal(outputs) * 0.1

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = 1 + random.standard_normal(HIDDEN) * 0.1
        weights[f"{name}.bias"] = random.standard_normal(HIDDEN) * 0.1

    for name, rows in (("word", vocabulary), ("position", POSITIONS), ("token_type", 2)):
        weights[f"{prefix}embeddings.{name}_embeddings.weight"] = random.standard_normal((rows, HIDDEN))
    norm(f"{prefix}embeddings.LayerNorm")
    for number in range(LAYERS):
        at = f"{prefix}encoder.layer.{number}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{at}attention.{name}", HIDDEN, HIDDEN)
        linear(f"{at}intermediate.dense", HIDDEN, INNER)
        linear(f"{at}output.dense", INNER, HIDDEN)
        norm(f"{at}attention.output.LayerNorm")
        norm(f"{at}output.LayerNorm")
    linear(f"{prefix}pooler.dense", HIDDEN, HIDDEN)
    if labels:
        linear("classifier", HIDDEN, len(labels))
    return weights


def write_safetensors(file: Path, weights: dict[str, np.ndarray]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    arrays = {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % 8)
    with file.open("wb") as opened:
        opened.write(struct.pack("<Q", len(told)) + told)
        for array in arrays.values():
            opened.write(array.tobytes())
