"""The towers of a model of images and texts, on onnxruntime. Each is loaded and evicted by itself.

A pipeline that embeds its images first and its texts later never holds both.
"""

from collections.abc import Sequence
from typing import Any

from manyhands.errors import UsageError
from manyhands.worker.backends import onnx_arena
from manyhands.worker.backends.backend import Description, Pixels, Tokens
from manyhands.worker.backends.image_text_folder import ImageTextFolder, Modality
from manyhands.worker.backends.onnx_encoder import open_session, session_options
from manyhands.worker.backends.padding import padded
from manyhands.worker.backends.safetensors_weights import Weights
from manyhands.worker.backends.tower_graph import IDS, PIXELS, TowerGraph
from manyhands.worker.memory.prior import activation_of
from manyhands.worker.values.planner_values import Growth

NAME = "onnx"
#: For each value of an image: the byte, and floats before and after they are put in order.
_PIXEL_BYTES = 3 * (1 + 4 + 4)


class OnnxTower:
    def __init__(self, name: str, model: ImageTextFolder, modality: Modality, length_max: int | None = None) -> None:
        if length_max is not None and length_max > model.positions:
            raise UsageError(
                f"model `{name}` has {model.positions} positions, so `length_max` = {length_max} is too much",
                f"leave it out to use the default of {model.positions}",
            )
        self._model = model
        self._modality = modality
        is_image = modality == "image"
        sizes = model.image if is_image else model.text
        growth = activation_of(sizes.hidden, sizes.inner, sizes.heads)
        pixels = _PIXEL_BYTES * model.patch**2 if is_image else 0
        weights = Weights(list(model.weights))
        self.description = Description(
            name=name,
            task="embed",
            modality=modality,
            backend=NAME,
            weights_bytes=weights.bytes_of("vis" if is_image else "text"),
            fingerprint=model.fingerprint(modality),
            length_max=model.image_tokens if is_image else (length_max or model.positions),
            is_fixed_length=is_image or model.family == "siglip",
            width=model.width,
            tokenizer_file="" if is_image else str(model.tokenizer_file),
            framing=model.framing if is_image else None,
            activation=Growth(growth.k0, growth.k1 + pixels, growth.k2),
        )

    def load(self, device: str = "cpu") -> "LoadedTower":
        return LoadedTower(self._model, self._modality, device)


class LoadedTower:
    def __init__(self, model: ImageTextFolder, modality: Modality, device: str) -> None:
        self._model = model
        self._weights: Weights | None = Weights(list(model.weights))
        graph = TowerGraph(model, self._weights, modality)
        written, options = graph.model(), session_options()
        graph.give_weights(options)
        self._session = open_session(written, options, device)
        self._weights.let_go_of_pages()
        # The first run allocates memory and keeps it. Do that here, so that it counts as loading.
        blank = Pixels(bytes(model.framing.image_bytes), 1) if modality == "image" else Tokens([model.eos_id])
        self.compute([blank], model.positions)

    def compute(self, rows: Sequence[Any], length: int) -> Sequence[Any]:
        import numpy as np

        if isinstance(rows[0], Pixels):
            size = self._model.framing.size
            images = np.frombuffer(b"".join(row.values for row in rows), np.uint8)
            feed = {PIXELS: images.reshape(len(rows), size, size, 3)}
        else:
            # SigLIP was trained on texts of full length, and attends to their padding.
            whole = self._model.positions if self._model.family == "siglip" else length
            feed = {IDS: padded(rows, whole, self._model.pad_id)["ids"]}
        (answers,) = self._session.run(None, feed)
        return answers.copy()  # type: ignore[no-any-return]  # a view would keep the arena from shrinking

    def give_back(self) -> None:
        onnx_arena.shrink()

    def close(self) -> None:
        del self._session
        self._weights = None
        self.give_back()
