"""Encoders on onnxruntime. The graph is the folder's model.onnx, or it is built from the safetensors weights."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from manyhands.errors import UsageError
from manyhands.worker.backends import onnx_arena
from manyhands.worker.backends.backend import Description, Tokens
from manyhands.worker.backends.encoder_folder import EncoderFolder
from manyhands.worker.backends.padding import padded
from manyhands.worker.backends.safetensors_weights import Weights
from manyhands.worker.memory.prior import activation_of

if TYPE_CHECKING:
    import onnxruntime

NAME = "onnx"


class OnnxEncoder:
    def __init__(self, name: str, encoder: EncoderFolder, length_max: int | None = None) -> None:
        if not encoder.weights and encoder.onnx_file is None:
            raise UsageError(f"`{encoder.folder}` has neither model.safetensors nor model.onnx")
        self._encoder = encoder
        self.description = describe(name, encoder, NAME, length_max)

    def load(self, device: str = "cpu") -> "LoadedEncoder":
        return LoadedEncoder(self._encoder, device)


def describe(name: str, encoder: EncoderFolder, backend: str, length_max: int | None) -> Description:
    if length_max is not None and length_max > encoder.positions:
        raise UsageError(
            f"model `{name}` has {encoder.positions} positions, so `length_max` = {length_max} is too much",
            f"leave it out to use the default of {encoder.length_max}",
        )
    return Description(
        name=name,
        task=encoder.task,
        backend=backend,
        weights_bytes=encoder.weights_bytes,
        fingerprint=encoder.fingerprint(backend),
        length_max=length_max or encoder.length_max,
        width=encoder.hidden if encoder.task == "embed" else len(encoder.labels),
        labels=() if encoder.task == "embed" else encoder.labels,
        tokenizer_file=str(encoder.tokenizer_file),
        activation=activation_of(encoder.hidden, encoder.inner, encoder.heads),
    )


class LoadedEncoder:
    def __init__(self, encoder: EncoderFolder, device: str) -> None:
        self._pad_id = encoder.pad_id
        self._weights: Weights | None = None
        if encoder.weights and encoder.onnx_file is None:
            self._session = self._drawn(encoder, device)
        else:
            self._session = open_session(str(encoder.onnx_file), session_options(), device)
        self._kind_of = {node.name: node.type for node in self._session.get_inputs()}
        # The first run allocates memory and keeps it. Do that here, so that it counts as loading.
        self.compute([Tokens([self._pad_id])], 1)

    def compute(self, rows: Sequence[Tokens], length: int) -> Sequence[Any]:
        fed = padded(rows, length, self._pad_id)
        names = {"ids": "input_ids", "mask": "attention_mask", "types": "token_type_ids"}
        feed = {}
        for name, array in fed.items():
            for known in (name, names[name]):
                if known in self._kind_of:
                    feed[known] = array.astype("int64") if self._kind_of[known] == "tensor(int64)" else array
        (answers, *_) = self._session.run(None, feed)
        return answers.copy()  # type: ignore[no-any-return]  # a view would keep the arena from shrinking

    def give_back(self) -> None:
        onnx_arena.shrink()

    def close(self) -> None:
        del self._session
        self._weights = None
        self.give_back()

    def _drawn(self, encoder: EncoderFolder, device: str) -> "onnxruntime.InferenceSession":
        from manyhands.worker.backends.bert_graph import BertGraph

        self._weights = Weights(list(encoder.weights), ("", encoder.layout.prefix))
        graph = BertGraph(encoder, self._weights)
        written = graph.model()
        options = session_options()
        graph.give_weights(options)
        session = open_session(written, options, device)
        self._weights.let_go_of_pages()
        return session


def session_options() -> "onnxruntime.SessionOptions":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Batches run in parallel on one thread each, so that no thread waits for others at the end of every operator.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # onnxruntime would keep a pattern for every shape
    options.log_severity_level = 4
    onnx_arena.use(options)
    return options


def open_session(
    model: str | bytes, options: "onnxruntime.SessionOptions", device: str
) -> "onnxruntime.InferenceSession":
    import onnxruntime

    wanted: list[Any] = ["CPUExecutionProvider"]
    if device != "cpu":
        wanted.insert(0, ("CUDAExecutionProvider", {"device_id": int(device.removeprefix("cuda:"))}))
    return onnxruntime.InferenceSession(model, options, providers=wanted)
