"""Writes models of images and texts with a few thousand random weights, in the layouts of CLIP and SigLIP."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from worker.tiny_encoders import write_safetensors

HIDDEN, INNER, LAYERS, HEADS, SIZE, PATCH, WIDTH = 32, 64, 2, 4, 48, 16, 24
POSITIONS = {"clip": 20, "siglip": 16}
WORDS = ["<pad>", "<unk>", "a", "photo", "of", "cat", "red", "blue", "square", "picture", "the", "<start>", "<end>"]
START, END = WORDS.index("<start>"), WORDS.index("<end>")


def write_image_model(folder: Path, family: str, **changes: Any) -> Path:
    """A folder as it is published. `changes` are made to the text's part of config.json."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config_of(family, **changes)))
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor_of(family)))
    (folder / "tokenizer.json").write_text(tokenizer_of(family))
    write_safetensors(folder / "model.safetensors", _weights(family, np.random.default_rng(11)))
    return folder


def config_of(family: str, **changes: Any) -> dict[str, Any]:
    sizes: dict[str, Any] = {
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "hidden_act": "quick_gelu" if family == "clip" else "gelu_pytorch_tanh",
    }
    text = {"vocab_size": len(WORDS), "max_position_embeddings": POSITIONS[family], "pad_token_id": 0}
    ends = {"bos_token_id": START, "eos_token_id": END}
    return {
        "model_type": family,
        "projection_dim": WIDTH,
        "text_config": {**sizes, **text, **ends, "projection_dim": WIDTH, "projection_size": HIDDEN, **changes},
        "vision_config": {**sizes, "image_size": SIZE, "patch_size": PATCH, "projection_dim": WIDTH},
    }


def preprocessor_of(family: str) -> dict[str, Any]:
    if family == "clip":
        sides: dict[str, Any] = {"size": {"shortest_edge": SIZE}, "crop_size": {"height": SIZE, "width": SIZE}}
        mean, spread = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
    else:
        sides = {"size": {"height": SIZE, "width": SIZE}, "do_center_crop": False}
        mean, spread = [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]
    return {**sides, "resample": 3, "rescale_factor": 1 / 255, "image_mean": mean, "image_std": spread}


def tokenizer_of(family: str) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    single = "<start> $A <end>" if family == "clip" else "$A <end>"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[("<start>", START), ("<end>", END)]
    )
    written: str = tokenizer.to_str()
    return written


def _weights(family: str, random: np.random.Generator) -> dict[str, np.ndarray]:
    weights: dict[str, np.ndarray] = {}
    is_clip = family == "clip"

    def some(name: str, *shape: int, scale: float = 0.2) -> None:
        weights[name] = random.standard_normal(shape) * scale

    def linear(name: str, inputs: int, outputs: int, is_biased: bool = True) -> None:
        some(f"{name}.weight", outputs, inputs)
        if is_biased:
            some(f"{name}.bias", outputs)

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = 1 + random.standard_normal(HIDDEN) * 0.1
        some(f"{name}.bias", HIDDEN)

    def layers(tower: str) -> None:
        for number in range(LAYERS):
            at = f"{tower}.encoder.layers.{number}."
            for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                linear(f"{at}self_attn.{part}", HIDDEN, HIDDEN)
            linear(f"{at}mlp.fc1", HIDDEN, INNER)
            linear(f"{at}mlp.fc2", INNER, HIDDEN)
            norm(f"{at}layer_norm1")
            norm(f"{at}layer_norm2")

    some("text_model.embeddings.token_embedding.weight", len(WORDS), HIDDEN, scale=1)
    some("text_model.embeddings.position_embedding.weight", POSITIONS[family], HIDDEN)
    layers("text_model")
    norm("text_model.final_layer_norm")
    some("vision_model.embeddings.patch_embedding.weight", HIDDEN, 3, PATCH, PATCH, scale=0.1)
    some("vision_model.embeddings.position_embedding.weight", (SIZE // PATCH) ** 2 + is_clip, HIDDEN)
    layers("vision_model")
    norm("vision_model.post_layernorm")
    if is_clip:
        some("vision_model.embeddings.class_embedding", HIDDEN)
        norm("vision_model.pre_layrnorm")
        linear("visual_projection", HIDDEN, WIDTH, False)
        linear("text_projection", HIDDEN, WIDTH, False)
    else:
        some("vision_model.embeddings.patch_embedding.bias", HIDDEN)
        linear("text_model.head", HIDDEN, HIDDEN)
        some("vision_model.head.probe", 1, 1, HIDDEN)
        some("vision_model.head.attention.in_proj_weight", 3 * HIDDEN, HIDDEN)
        some("vision_model.head.attention.in_proj_bias", 3 * HIDDEN)
        linear("vision_model.head.attention.out_proj", HIDDEN, HIDDEN)
        norm("vision_model.head.layernorm")
        linear("vision_model.head.mlp.fc1", HIDDEN, INNER)
        linear("vision_model.head.mlp.fc2", INNER, HIDDEN)
    return weights
