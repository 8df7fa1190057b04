"""The onnx backend gives the same results as torch for every family it can build. `make test-torch` runs this."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manyhands.worker.backends.backend import Tokens
from manyhands.worker.backends.backend_choice import backend_of
from manyhands.worker.model_worker import WorkerSettings, working
from manyhands.worker.values.item_answers import ItemAnswer
from manyhands.worker.values.model_config import ModelConfig
from worker.docstrings import docstrings

torch = pytest.importorskip("torch", reason="torch is not installed; run `make test-torch`")
transformers = pytest.importorskip("transformers", reason="transformers is not installed; run `make test-torch`")

SIZES: dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "vocab_size": 30_522,
    "max_position_embeddings": 66,
}
DISTILLED = {"dim": 48, "hidden_dim": 96, "n_layers": 3, "n_heads": 4, "vocab_size": 30_522}
ROWS = [
    Tokens(list(range(1000, 1000 + count)), [0] * (count // 2) + [1] * (count - count // 2)) for count in (3, 9, 40)
]


def both(folder: Path, rows: list[Tokens], length: int) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for backend in ("onnx", "torch"):
        loaded = backend_of(ModelConfig(name="m", path=str(folder), backend=backend), Path()).load()  # type: ignore[arg-type]
        found.append(np.asarray(loaded.compute(rows, length)))
        loaded.close()
    return found[0], found[1]


@pytest.mark.parametrize("labels", [0, 1, 3], ids=["embed", "rerank", "classify"])
@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta", "distilbert"])
def test_each_family_and_head_is_drawn_as_torch_computes_it(
    family: str, labels: int, minilm: Path, tmp_path: Path
) -> None:
    torch.manual_seed(7)
    sizes = DISTILLED if family == "distilbert" else SIZES
    if family in ("roberta", "xlm-roberta"):
        sizes = {**sizes, "type_vocab_size": 2, "pad_token_id": 1}
    config = transformers.AutoConfig.for_model(family, initializer_range=0.3, num_labels=labels or 2, **sizes)
    kind = transformers.AutoModelForSequenceClassification if labels else transformers.AutoModel
    kind.from_config(config).save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((minilm / "tokenizer.json").read_bytes())
    ours, theirs = both(tmp_path, ROWS, 40)
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 2e-5


async def test_minilm_is_the_same_to_six_digits_on_real_text(minilm: Path) -> None:
    texts = docstrings(32)
    found = {}
    for backend in ("onnx", "torch"):
        model = ModelConfig(name="m", path=str(minilm), backend=backend, truncate=True)  # type: ignore[arg-type]
        async with working(WorkerSettings(models=(model,), workspace=minilm, threads=1, device="cpu")) as worker:
            answers = await worker.answers("m", texts)
        found[backend] = np.stack([answer.output for answer in answers if isinstance(answer, ItemAnswer)])
    assert (found["onnx"] * found["torch"]).sum(1).min() >= 0.999999


async def test_torch_out_of_memory_is_known_as_such(minilm: Path) -> None:
    from manyhands.worker.backends.out_of_memory import is_out_of_memory

    with pytest.raises(RuntimeError) as error:
        await asyncio.to_thread(torch.empty, 2**60)
    assert is_out_of_memory(error.value)
