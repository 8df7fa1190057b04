"""Encoders whose graph is built from their weights give the numbers that the model's authors publish."""

import json
from pathlib import Path

import numpy as np
import pytest

from manyhands.errors import ConfigError, UsageError
from manyhands.worker.backends.backend import Tokens
from manyhands.worker.backends.backend_choice import backend_of
from manyhands.worker.backends.out_of_memory import is_out_of_memory
from manyhands.worker.loop.tokenizing import Tokenizing
from manyhands.worker.values.model_config import ModelConfig
from worker.tiny_encoders import write_bert

#: What sentence-transformers returns for "hello world", and what the model's authors publish.
HELLO_WORLD = [-0.0344772, 0.0310231, 0.0067349, 0.0261090, -0.0393620, -0.1603024, 0.0669240, -0.0064415]


def model_at(folder: Path, **fields: object) -> ModelConfig:
    return ModelConfig(name="m", path=str(folder), **fields)  # type: ignore[arg-type]


def test_minilm_gives_the_vectors_it_is_known_for(minilm: Path) -> None:
    backend = backend_of(model_at(minilm), Path())
    description = backend.description
    assert (description.task, description.width, description.length_max) == ("embed", 384, 256)
    (encoded,) = Tokenizing(description.tokenizer_file, 256).encode(["hello world"], False)
    loaded = backend.load()
    (vector,) = loaded.compute([Tokens(encoded.ids)], len(encoded.ids))
    assert np.abs(vector[:8] - HELLO_WORLD).max() < 1e-6
    (padded,) = loaded.compute([Tokens(encoded.ids)], 100)
    assert float((vector * padded).sum()) > 0.999999
    loaded.close()


def test_a_row_does_not_depend_on_what_is_beside_it(minilm: Path, tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "tiny", minilm / "tokenizer.json", ["bad", "good", "ugly"])
    loaded = backend_of(model_at(folder), Path()).load()
    rows = [Tokens(list(range(1000, 1000 + count))) for count in (3, 9, 30)]
    together = np.asarray(loaded.compute(rows, 30))
    alone = np.concatenate([loaded.compute([row], len(row.ids)) for row in rows])
    assert together.shape == (3, 3)
    assert np.abs(together - alone).max() < 1e-5


def test_what_a_model_does_is_read_from_its_files(minilm: Path, tmp_path: Path) -> None:
    tokenizer = minilm / "tokenizer.json"
    labels = {"embed": None, "rerank": ["relevant"], "classify": ["no", "yes"]}
    for task, names in labels.items():
        backend = backend_of(model_at(write_bert(tmp_path / task, tokenizer, names)), Path())
        assert backend.description.task == task


def test_a_package_is_looked_into_and_never_imported(minilm: Path, tmp_path: Path, monkeypatch: object) -> None:
    package = tmp_path / "a_model_package"
    write_bert(package / "inside" / "model", minilm / "tokenizer.json")
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    monkeypatch.syspath_prepend(str(tmp_path))
    backend = backend_of(ModelConfig(name="m", package="a_model_package"), Path())
    assert backend.description.task == "embed"
    with pytest.raises(ConfigError, match="there is no installed package `no_such_package`"):
        backend_of(ModelConfig(name="m", package="no_such_package"), Path())


def test_what_cannot_be_used_is_said_before_anything_is_loaded(minilm: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        backend_of(model_at(tmp_path / "nowhere"), Path())
    with pytest.raises(UsageError, match="must hold exactly one model; found: none"):
        backend_of(model_at(tmp_path), Path())
    (tmp_path / "x.gguf").write_bytes(b"not one")
    with pytest.raises(ConfigError, match="is not a GGUF file"):
        backend_of(model_at(tmp_path / "x.gguf"), Path())
    with pytest.raises(UsageError, match="has 512 positions, so `length_max` = 513 is too much"):
        backend_of(model_at(minilm, length_max=513), Path())


def test_damaged_weights_and_unknown_families_are_named(minilm: Path, tmp_path: Path) -> None:
    folder = write_bert(tmp_path / "cut", minilm / "tokenizer.json")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-100])
    with pytest.raises(UsageError, match="ends within tensor"):
        backend_of(model_at(folder), Path()).load()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "mpnet"}))
    weights.write_bytes(whole)
    with pytest.raises(UsageError, match="is of type `mpnet`; the onnx backend can build bert, roberta"):
        backend_of(model_at(folder), Path()).load()
    weights.write_bytes(b"")
    with pytest.raises(UsageError, match="is not a safetensors file"):
        backend_of(model_at(folder), Path()).load()


@pytest.mark.parametrize(
    ("error", "is_so"),
    [
        (MemoryError(), True),
        (RuntimeError("bad allocation"), True),
        (RuntimeError("[ONNXRuntimeError] : 6 : Failed to allocate memory for requested buffer of size 98304"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (OSError(12, "Cannot allocate memory"), True),
        (ValueError("a shape does not fit"), False),
    ],
)
def test_an_exhausted_memory_is_known_in_every_disguise(error: Exception, is_so: bool) -> None:
    assert is_out_of_memory(error) is is_so
    wrapped = RuntimeError("the operator failed")
    wrapped.__cause__ = error
    assert is_out_of_memory(wrapped) is is_so
