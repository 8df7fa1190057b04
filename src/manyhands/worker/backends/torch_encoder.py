"""Encoders on torch and transformers, for families that the onnx backend cannot build. It is imported only if used."""

import inspect
from collections.abc import Sequence
from typing import Any

from manyhands.errors import UsageError
from manyhands.worker.backends.backend import Tokens
from manyhands.worker.backends.encoder_folder import EncoderFolder
from manyhands.worker.backends.onnx_encoder import describe
from manyhands.worker.backends.padding import padded

NAME = "torch"


class TorchEncoder:
    def __init__(self, name: str, encoder: EncoderFolder, length_max: int | None = None) -> None:
        if not encoder.weights:
            raise UsageError(
                f"`{encoder.folder}` has no model.safetensors",
                "convert the weights to safetensors; loading pickled weights could run foreign code",
            )
        self._encoder = encoder
        self.description = describe(name, encoder, NAME, length_max)

    def load(self, device: str = "cpu") -> "LoadedTorch":
        return LoadedTorch(self._encoder, device)


class LoadedTorch:
    def __init__(self, encoder: EncoderFolder, device: str) -> None:
        import torch
        import transformers

        self._torch: Any = torch
        self._encoder = encoder
        self._device = device
        if device == "cpu":
            torch.set_num_threads(1)  # batches run in parallel
        kind = transformers.AutoModel if encoder.task == "embed" else transformers.AutoModelForSequenceClassification
        # Use only the folder's own files: none of its code is run, and nothing is downloaded.
        model = kind.from_pretrained(
            str(encoder.folder), local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
        self._model: Any = model.eval().to(device)
        self._takes_types = "token_type_ids" in inspect.signature(self._model.forward).parameters
        # The first run allocates memory and keeps it. Do that here, so that it counts as loading.
        self.compute([Tokens([encoder.pad_id])], 1)

    def compute(self, rows: Sequence[Tokens], length: int) -> Sequence[Any]:
        torch = self._torch
        with torch.inference_mode():
            fed = {
                name: torch.from_numpy(array).long().to(self._device)
                for name, array in padded(rows, length, self._encoder.pad_id).items()
            }
            given = {"input_ids": fed["ids"], "attention_mask": fed["mask"]}
            if self._takes_types:
                given["token_type_ids"] = fed["types"]
            answer = self._model(**given)
            if self._encoder.task != "embed":
                return answer.logits.float().cpu().numpy()  # type: ignore[no-any-return]
            vectors = self._pooled(answer.last_hidden_state, fed["mask"])
            return vectors.float().cpu().numpy()  # type: ignore[no-any-return]

    def close(self) -> None:
        del self._model
        self.give_back()

    def give_back(self) -> None:
        if self._device != "cpu":
            self._torch.cuda.empty_cache()

    def _pooled(self, hidden: Any, mask: Any) -> Any:
        if self._encoder.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            weights = mask.unsqueeze(-1).to(hidden.dtype)
            pooled = (hidden * weights).sum(1) / weights.sum(1)
        return self._torch.nn.functional.normalize(pooled, dim=-1) if self._encoder.normalised else pooled
