"""Finds a configured model by its path or package, and chooses the backend that loads it."""

import importlib.util
from pathlib import Path

from manyhands.errors import ConfigError, UsageError
from manyhands.install_hints import install_hint
from manyhands.worker.backends.backend import Backend
from manyhands.worker.backends.image_text_folder import is_image_text, read_image_text
from manyhands.worker.values.model_config import ModelConfig

_NEEDS = {
    "onnx": ("onnxruntime", "onnx", "tokenizers", "numpy"),
    "torch": ("torch", "transformers", "tokenizers", "numpy"),
    "llamacpp": ("xllamacpp",),
}
_EXTRA = {"onnx": "models", "torch": "torch", "llamacpp": "models"}


def image_tower_of(model: str) -> str:
    """The name under which the worker hosts the image tower of a model of images and texts."""
    return f"{model}/image"


def backends_of(model: ModelConfig, workspace: Path) -> tuple[Backend, ...]:
    """The backends of a model. A model of images and texts has two: its text tower has the model's own name."""
    place = _place_of(model, workspace)
    if place.is_file() or not is_image_text(place):
        return (backend_of(model, workspace),)
    _refuse_missing(model, "onnx", *_NEEDS["onnx"], "PIL")
    if model.backend not in ("", "onnx") or model.task not in ("", "embed"):
        raise ConfigError(
            f"model `{model.name}` embeds images and texts, on the onnx backend alone",
            "leave out `backend` and `task`",
        )
    from manyhands.worker.backends.onnx_tower import OnnxTower

    folder = read_image_text(place)
    return (
        OnnxTower(model.name, folder, "text", model.length_max),
        OnnxTower(image_tower_of(model.name), folder, "image"),
    )


def backend_of(model: ModelConfig, workspace: Path) -> Backend:
    """The backend of a model. This reads the model's small files and loads nothing."""
    place = _place_of(model, workspace)
    backend = model.backend or ("llamacpp" if place.suffix == ".gguf" else "onnx")
    _refuse_missing(model, backend, *_NEEDS[backend])
    if backend == "llamacpp":
        from manyhands.worker.backends.llama import LlamaModel

        return LlamaModel(model, place)
    from manyhands.worker.backends.encoder_folder import read_encoder

    if place.is_file():
        raise ConfigError(f"model `{model.name}`: `{place}` is a file", "name the folder that holds its config.json")
    if model.task == "generate":
        raise ConfigError(f"model `{model.name}`: the {backend} backend does not generate", "use a .gguf file")
    encoder = read_encoder(place, model.task or None)
    if backend == "torch":
        from manyhands.worker.backends.torch_encoder import TorchEncoder

        return TorchEncoder(model.name, encoder, model.length_max)
    from manyhands.worker.backends.onnx_encoder import OnnxEncoder

    return OnnxEncoder(model.name, encoder, model.length_max)


def _refuse_missing(model: ModelConfig, backend: str, *needed: str) -> None:
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"model `{model.name}` needs {' and '.join(missing)}, which is not installed",
            install_hint(_EXTRA[backend]),
        )


def _place_of(model: ModelConfig, workspace: Path) -> Path:
    if model.path:
        place = workspace / Path(model.path).expanduser()
        if not place.exists():
            raise ConfigError(f"model `{model.name}`: `{place}` does not exist")
        return place if place.is_file() else _within(place, place, model.name)
    try:
        found = importlib.util.find_spec(model.package)
    except (ImportError, ValueError):
        found = None
    if found is None or not found.submodule_search_locations:
        raise ConfigError(
            f"model `{model.name}`: there is no installed package `{model.package}`",
            "use the import name, with underscores; the package is searched for a model, never imported",
        )
    return _within(Path(next(iter(found.submodule_search_locations))), Path(model.package), model.name)


def _within(folder: Path, shown: Path, name: str) -> Path:
    """The only model in a folder or below it."""
    if (folder / "config.json").is_file():
        return folder
    ggufs = sorted(folder.rglob("*.gguf"))
    folders = [file.parent for file in sorted(folder.rglob("tokenizer.json"))]
    found = [*(each for each in folders if (each / "config.json").is_file()), *ggufs]
    if len(found) != 1:
        told = "none" if not found else ", ".join(str(each.relative_to(folder)) for each in found)
        raise UsageError(
            f"model `{name}`: `{shown}` must hold exactly one model; found: {told}",
            "a model is a folder with config.json and tokenizer.json, or a .gguf file",
        )
    return found[0]
