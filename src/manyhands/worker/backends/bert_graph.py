"""Builds the ONNX graph of a BERT-like encoder from its config and weights, without torch or an exported file.

It uses fused operators of onnxruntime that compute the same result (`Gelu` is the exact one). Batch and length vary.
Weights keep the layout of the file: products use the transposed matrix, which onnxruntime packs once.
"""

from manyhands.errors import UsageError
from manyhands.worker.backends.encoder_folder import LAYOUTS, EncoderFolder
from manyhands.worker.backends.graph_drawing import OUTPUT, GraphDrawing
from manyhands.worker.backends.safetensors_weights import Weights

_BERT_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "mixed_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}
_DISTILBERT_LAYER = {
    "query": "attention.q_lin",
    "key": "attention.k_lin",
    "value": "attention.v_lin",
    "mixed": "attention.out_lin",
    "mixed_norm": "sa_layer_norm",
    "inner": "ffn.lin1",
    "outer": "ffn.lin2",
    "outer_norm": "output_layer_norm",
}


class BertGraph(GraphDrawing):
    """The graph without its weights, and the weights by name."""

    def __init__(self, encoder: EncoderFolder, weights: Weights) -> None:
        if encoder.family not in LAYOUTS:
            families = ", ".join(LAYOUTS)
            raise UsageError(
                f"`{encoder.folder}` is of type `{encoder.family}`; the onnx backend can build {families}",
                'put a model.onnx into the folder, or use `backend = "torch"`',
            )
        if encoder.activation != "gelu":
            raise UsageError(f"`{encoder.folder}` uses `{encoder.activation}`; the onnx backend can only build `gelu`")
        super().__init__(weights)
        self._encoder = encoder

    def model(self) -> bytes:
        hidden = self._embedded()
        for number in range(self._encoder.layers):
            hidden = self._layer(number, hidden)
        width = self._head(hidden)
        return self._written({name: ("int32", ["items", "length"]) for name in self.inputs}, width)

    @property
    def inputs(self) -> list[str]:
        return ["ids", "mask", "types"] if self._encoder.has_types else ["ids", "mask"]

    def _embedded(self) -> str:
        encoder, at = self._encoder, "embeddings."
        positions = self._weights.get(at + "position_embeddings.weight")[encoder.layout.positions_skipped :]
        types = ["types", self._weight(at + "token_type_embeddings.weight")] if encoder.has_types else ["", ""]
        inputs = [
            "ids",
            types[0],
            self._weight(at + "word_embeddings.weight"),
            self._constant(at + "position_embeddings.weight", positions),
            types[1],
            self._weight(at + "LayerNorm.weight"),
            self._weight(at + "LayerNorm.bias"),
            "mask",
        ]
        return self._op("EmbedLayerNormalization", inputs, fused=True, epsilon=encoder.norm_epsilon)

    def _layer(self, number: int, before: str) -> str:
        import numpy as np

        encoder = self._encoder
        is_distilled = encoder.family == "distilbert"
        at = f"{'transformer' if is_distilled else 'encoder'}.layer.{number}."
        name_of = {part: at + name for part, name in (_DISTILBERT_LAYER if is_distilled else _BERT_LAYER).items()}
        parts = [name_of[part] for part in ("query", "key", "value")]
        products = [self._product(before, part) for part in parts]
        bias = np.concatenate([self._weights.get(f"{part}.bias") for part in parts])
        attended = self._op(
            "MultiHeadAttention",
            [*products, self._constant(at + "attention.bias", bias), "mask"],
            fused=True,
            num_heads=encoder.heads,
        )
        mixed = self._added_and_normed(attended, before, name_of["mixed"], name_of["mixed_norm"])
        inner = self._product(mixed, name_of["inner"])
        inner = self._op("BiasGelu", [inner, self._weight(name_of["inner"] + ".bias")], fused=True)
        return self._added_and_normed(inner, mixed, name_of["outer"], name_of["outer_norm"])

    def _added_and_normed(self, value: str, beside: str, linear: str, norm: str) -> str:
        inputs = [self._product(value, linear), beside, *map(self._weight, (norm + ".weight", norm + ".bias"))]
        inputs.append(self._weight(linear + ".bias"))
        return self._op("SkipLayerNormalization", inputs, fused=True, epsilon=self._encoder.norm_epsilon)

    def _head(self, hidden: str) -> int:
        """Add the nodes that produce one row of numbers for each item, and return the width of a row."""
        import numpy as np

        encoder = self._encoder
        first = self._constant("first", np.array([1], np.int64))
        if encoder.task != "embed":
            return self._classified(self._of_first_token(hidden))
        if encoder.pooling == "cls":
            pooled = self._of_first_token(hidden)
        else:
            mask = self._op("Unsqueeze", [self._op("Cast", ["mask"], to=1), first])
            total = self._op("Squeeze", [self._op("MatMul", [mask, hidden]), first])
            count = self._op("ReduceSum", [mask, self._constant("last", np.array([2], np.int64))], keepdims=0)
            pooled = self._op("Div", [total, count])
        if encoder.normalised:
            self._op("LpNormalization", [pooled], OUTPUT, axis=-1, p=2)
        else:
            self._op("Identity", [pooled], OUTPUT)
        return encoder.hidden

    def _of_first_token(self, hidden: str) -> str:
        import numpy as np

        return self._op("Gather", [hidden, self._constant("zero", np.array(0, np.int64))], axis=1)

    def _classified(self, token: str) -> int:
        """Add the family's head: a layer of the encoder's width with its activation, then the labels."""
        family = self._encoder.family
        if family == "bert":
            names, function = ("pooler.dense", "classifier"), "Tanh"
        elif family == "distilbert":
            names, function = ("pre_classifier", "classifier"), "Relu"
        else:
            names, function = ("classifier.dense", "classifier.out_proj"), "Tanh"
        inner = self._op(function, [self._linear(token, names[0])])
        self._linear(inner, names[1], OUTPUT)
        return int(self.initializers[names[1] + ".bias"].shape[0])
