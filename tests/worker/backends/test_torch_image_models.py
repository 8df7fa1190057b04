"""Both towers of CLIP and SigLIP give what transformers computes. `make test-torch` runs this."""

from pathlib import Path

import numpy as np
import pytest

from manyhands.worker.backends.backend import Pixels, Tokens
from manyhands.worker.backends.image_text_folder import read_image_text
from manyhands.worker.backends.onnx_tower import OnnxTower
from worker.tiny_image_models import END, PATCH, POSITIONS, SIZE, START, preprocessor_of, write_image_model

torch = pytest.importorskip("torch", reason="torch is not installed; run `make test-torch`")
transformers = pytest.importorskip("transformers", reason="transformers is not installed; run `make test-torch`")


@pytest.mark.parametrize("activation", ["quick_gelu", "gelu", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_both_towers_compute_what_torch_computes(family: str, activation: str, tmp_path: Path) -> None:
    folder = write_image_model(tmp_path / "m", family, hidden_act=activation)
    theirs = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True, dtype=torch.float32).eval()
    images = np.random.default_rng(3).integers(0, 256, (3, SIZE, SIZE, 3), np.uint8)
    told = preprocessor_of(family)
    values = (images * told["rescale_factor"] - told["image_mean"]) / told["image_std"]
    texts = [[START, 2, 3, END], [START, 6, 7, 8, 9, 10, END]]
    padded = np.zeros((2, POSITIONS[family] if family == "siglip" else 7), np.int64)
    for row, text in enumerate(texts):
        padded[row, : len(text)] = text
    with torch.inference_mode():
        seen = theirs.get_image_features(pixel_values=torch.from_numpy(values.transpose(0, 3, 1, 2)).float())
        read = theirs.get_text_features(input_ids=torch.from_numpy(padded))
    expected = [torch.nn.functional.normalize(_tensor(each), dim=-1).numpy() for each in (seen, read)]
    model = read_image_text(folder)
    rows = ([Pixels(image.tobytes(), (SIZE // PATCH) ** 2) for image in images], [Tokens(text) for text in texts])
    for modality, given, wanted in zip(("image", "text"), rows, expected, strict=True):
        loaded = OnnxTower("m", model, modality).load()  # type: ignore[arg-type]
        ours = np.asarray(loaded.compute(given, 7))
        loaded.close()
        assert ours.shape == wanted.shape
        assert np.abs(ours - wanted).max() < 2e-5, modality


def _tensor(answer: object) -> object:
    """Newer versions of transformers return a record, older ones the tensor."""
    return answer if isinstance(answer, torch.Tensor) else answer.pooler_output  # type: ignore[attr-defined]
