"""Builds the ONNX graph of one tower of CLIP or SigLIP from its config and weights.

Images enter as bytes, height by width by colour: a waiting image then takes a quarter of what floats take.
"""

from typing import TYPE_CHECKING, Any

from manyhands.worker.backends.graph_drawing import OUTPUT, GraphDrawing
from manyhands.worker.backends.image_text_folder import ImageTextFolder, Modality, TowerSizes
from manyhands.worker.backends.safetensors_weights import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

PIXELS, IDS = "pixels", "ids"
#: Configs of the first CLIP models name a wrong end token. Theirs is the token with the highest number.
_WRONG_EOS = 2
_OPERATOR_OF = {"quick_gelu": "QuickGelu", "gelu": "Gelu", "gelu_pytorch_tanh": "FastGelu"}


class TowerGraph(GraphDrawing):
    def __init__(self, model: ImageTextFolder, weights: Weights, modality: Modality) -> None:
        super().__init__(weights)
        self._model = model
        self._modality = modality
        self._sizes: TowerSizes = model.image if modality == "image" else model.text
        self._is_clip = model.family == "clip"
        self._at = "vision_model." if modality == "image" else "text_model."

    def model(self) -> bytes:
        pooled = self._image() if self._modality == "image" else self._text()
        self._op("LpNormalization", [pooled], OUTPUT, axis=-1, p=2)
        size = self._model.framing.size
        if self._modality == "image":
            return self._written({PIXELS: ("uint8", ["items", size, size, 3])}, self._model.width)
        return self._written({IDS: ("int32", ["items", "length"])}, self._model.width)

    def _image(self) -> str:
        hidden = self._patches()
        if self._is_clip:
            hidden = self._normed(hidden, self._at + "pre_layrnorm")  # the authors' own spelling
        for number in range(self._sizes.layers):
            hidden = self._layer(number, hidden)
        if self._is_clip:
            first = self._op("Gather", [hidden, self._constant("zero", _whole(0))], axis=1)
            return self._product(self._normed(first, self._at + "post_layernorm"), "visual_projection")
        return self._attended_pool(self._normed(hidden, self._at + "post_layernorm"))

    def _text(self) -> str:
        hidden = self._op("Gather", [self._weight(self._at + "embeddings.token_embedding.weight"), IDS])
        length = self._op("Shape", [IDS], start=1, end=2)
        places = [self._weight(self._at + "embeddings.position_embedding.weight"), self._whole("begin", 0), length]
        hidden = self._op("Add", [hidden, self._op("Slice", [*places, self._whole("rows", 0)])])
        for number in range(self._sizes.layers):
            hidden = self._layer(number, hidden)
        if self._is_clip:
            pooled = self._op("GatherND", [hidden, self._end_of_text()], batch_dims=1)
            return self._product(self._normed(pooled, self._at + "final_layer_norm"), "text_projection")
        last = self._op("Gather", [hidden, self._constant("last", _whole(-1))], axis=1)
        return self._linear(self._normed(last, self._at + "final_layer_norm"), self._at + "head")

    def _patches(self) -> str:
        """One row for each patch, with its position. The first row of CLIP stands for the whole image."""
        import numpy as np

        model, at = self._model, self._at + "embeddings."
        kernel = self._weights.get(at + "patch_embedding.weight")
        # Bytes become what the model was trained on inside the product: this saves two copies of every image.
        spread, mean = np.array(model.spread, np.float32), np.array(model.mean, np.float32)
        bias = -(kernel * (mean / spread)[:, None, None]).sum(axis=(1, 2, 3))
        if not self._is_clip:
            bias = bias + self._weights.get(at + "patch_embedding.bias")
        scaled = kernel * (model.scale / spread).astype(np.float32)[:, None, None]
        pixels = self._op("Transpose", [self._op("Cast", [PIXELS], to=1)], perm=[0, 3, 1, 2])
        parts = [pixels, self._constant(at + "kernel", scaled), self._constant(at + "bias", bias.astype(np.float32))]
        sides = [model.patch, model.patch]
        patches = self._op("Conv", parts, kernel_shape=sides, strides=sides)
        rows = self._op("Reshape", [patches, self._whole("flat", 0, self._sizes.hidden, -1)])
        hidden = self._op("Transpose", [rows], perm=[0, 2, 1])
        places = self._weights.get(at + "position_embedding.weight")
        if self._is_clip:
            hidden = self._op("Pad", [hidden, self._whole("one row before", 0, 1, 0, 0, 0, 0)])
            places = places.copy()
            places[0] += self._weights.get(at + "class_embedding")
        return self._op("Add", [hidden, self._constant(at + "places", places)])

    def _layer(self, number: int, before: str) -> str:
        import numpy as np

        at = f"{self._at}encoder.layers.{number}."
        normed = self._normed(before, at + "layer_norm1")
        parts = [f"{at}self_attn.{part}_proj" for part in "qkv"]
        bias = np.concatenate([self._weights.get(f"{part}.bias") for part in parts])
        attended = self._op(
            "MultiHeadAttention",
            [*(self._product(normed, part) for part in parts), self._constant(at + "attention.bias", bias)],
            fused=True,
            num_heads=self._sizes.heads,
            unidirectional=int(self._is_clip and self._modality == "text"),
        )
        mixed = self._op("Add", [before, self._biased(attended, at + "self_attn.out_proj")])
        return self._op("Add", [mixed, self._inner(self._normed(mixed, at + "layer_norm2"), at + "mlp.")])

    def _inner(self, value: str, at: str) -> str:
        inner = self._op(_OPERATOR_OF[self._sizes.activation], [self._biased(value, at + "fc1")], fused=True)
        return self._biased(inner, at + "fc2")

    def _biased(self, value: str, linear: str) -> str:
        return self._op("Add", [self._product(value, linear), self._weight(linear + ".bias")])

    def _normed(self, value: str, norm: str) -> str:
        inputs = [value, self._weight(norm + ".weight"), self._weight(norm + ".bias")]
        return self._op("LayerNormalization", inputs, axis=-1, epsilon=self._sizes.norm_epsilon)

    def _end_of_text(self) -> str:
        """The place of the first end token. Tokens after it are padding, and no earlier token sees them."""
        ids = IDS
        if self._model.eos_id != _WRONG_EOS:
            import numpy as np

            end = self._constant("end", np.array([self._model.eos_id], np.int32))
            ids = self._op("Cast", [self._op("Equal", [IDS, end])], to=6)
        return self._op("ArgMax", [ids], axis=1, keepdims=1)

    def _attended_pool(self, hidden: str) -> str:
        """SigLIP's head: one learned question attends to all patches. Its product with the weights never changes."""
        import numpy as np

        at, width, heads = self._at + "head.", self._sizes.hidden, self._sizes.heads
        weight, bias = (self._weights.get(f"{at}attention.in_proj_{part}") for part in ("weight", "bias"))
        asked = self._weights.get(at + "probe").reshape(1, width) @ weight[:width].T + bias[:width]
        asked = (asked / np.sqrt(width // heads)).reshape(1, heads, 1, width // heads)
        question = self._constant(at + "question", np.ascontiguousarray(asked, np.float32))
        by_head = self._whole("by head", 0, 0, heads, width // heads)
        keys, values = (
            self._op("Reshape", [self._part(hidden, at + name, weight, bias, number * width), by_head])
            for number, name in ((1, "key"), (2, "value"))
        )
        scores = self._op("MatMul", [question, self._op("Transpose", [keys], perm=[0, 2, 3, 1])])
        shares = self._op("Softmax", [scores], axis=-1)
        mixed = self._op("MatMul", [shares, self._op("Transpose", [values], perm=[0, 2, 1, 3])])
        pooled = self._biased(self._op("Reshape", [mixed, self._whole("one row", 0, width)]), at + "attention.out_proj")
        return self._op("Add", [pooled, self._inner(self._normed(pooled, at + "layernorm"), at + "mlp.")])

    def _part(self, hidden: str, name: str, weight: "NDArray[Any]", bias: "NDArray[Any]", begin: int) -> str:
        rows = slice(begin, begin + self._sizes.hidden)
        given = [hidden, self._constant(name + ".weight", weight[rows])]
        product = self._op("FusedMatMul", given, fused=True, transB=1)
        return self._op("Add", [product, self._constant(name + ".bias", bias[rows])])


def _whole(number: int) -> "NDArray[Any]":
    import numpy as np

    return np.array(number, np.int64)
