"""Writes the nodes of an ONNX graph over weights that stay where they are: in the mapped file.

Weights keep the layout of the file: products use the transposed matrix, which onnxruntime packs once.
"""

from typing import TYPE_CHECKING, Any

from manyhands.worker.backends.safetensors_weights import Weights

if TYPE_CHECKING:
    import onnxruntime
    from numpy.typing import NDArray

FUSED = "com.microsoft"
OUTPUT = "answers"
#: onnxruntime reads shapes and axes itself, and cannot do that outside the graph. They are small.
INSIDE_BYTES_MAX = 1024


class GraphDrawing:
    """The graph without its weights, and the weights by name."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._nodes: list[Any] = []
        self.initializers: dict[str, NDArray[Any]] = {}

    def give_weights(self, options: "onnxruntime.SessionOptions") -> None:
        """Hand the weights to the session that is made of this graph."""
        import onnxruntime

        outside = {name: array for name, array in self.initializers.items() if array.nbytes >= INSIDE_BYTES_MAX}
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outside.values()]
        options.add_external_initializers(list(outside), values)

    def _written(self, inputs: dict[str, tuple[str, list[str | int]]], width: int) -> bytes:
        """The graph as a file. Inputs have a type and a shape. There is one output: `width` numbers for each item."""
        from onnx import TensorProto, helper

        kind_of = {"int32": TensorProto.INT32, "uint8": TensorProto.UINT8}
        given = [helper.make_tensor_value_info(name, kind_of[kind], shape) for name, (kind, shape) in inputs.items()]
        answers = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["items", width])
        declared = [_declared(name, array) for name, array in self.initializers.items()]
        graph = helper.make_graph(self._nodes, "encoder", given, [answers], declared)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
        written: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
        return written

    def _op(self, kind: str, inputs: list[str], output: str = "", fused: bool = False, **attributes: Any) -> str:
        from onnx import helper

        output = output or f"{kind}-{len(self._nodes)}"
        # This operator requires a second output, although nothing here uses it.
        outputs = [output, f"{output}-mask"] if kind == "EmbedLayerNormalization" else [output]
        self._nodes.append(helper.make_node(kind, inputs, outputs, domain=FUSED if fused else "", **attributes))
        return output

    def _constant(self, name: str, array: "NDArray[Any]") -> str:
        self.initializers[name] = array
        return name

    def _whole(self, name: str, *numbers: int) -> str:
        """A constant list of whole numbers: an axis, or a shape."""
        import numpy as np

        return self._constant(name, np.array(numbers, np.int64))

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights.get(name))

    def _product(self, value: str, linear: str) -> str:
        return self._op("FusedMatMul", [value, self._weight(linear + ".weight")], fused=True, transB=1)

    def _linear(self, value: str, name: str, output: str = "") -> str:
        inputs = [value, self._weight(name + ".weight"), self._weight(name + ".bias")]
        return self._op("Gemm", inputs, output, transB=1)


def _declared(name: str, array: "NDArray[Any]") -> Any:
    """Declare an array as external data; the session is given the array itself. Small arrays are stored inside."""
    from onnx import TensorProto, helper, numpy_helper

    if array.nbytes < INSIDE_BYTES_MAX:
        return numpy_helper.from_array(array, name)
    tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "given"), ("offset", "0"), ("length", str(array.nbytes))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return tensor
