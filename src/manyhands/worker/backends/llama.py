"""Text generation from a .gguf file with llama.cpp, in this process."""

import hashlib
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyhands.errors import ConfigError
from manyhands.worker.backends.backend import Chat, Description
from manyhands.worker.values.item_answers import Trouble
from manyhands.worker.values.model_config import ModelConfig

NAME = "llamacpp"
#: A rough upper bound on what a token's keys and values take in half precision, as a share of the weights' size.
CONTEXT_SHARE = 1 / 2048


class LlamaModel:
    def __init__(self, model: ModelConfig, file: Path) -> None:
        if model.task not in ("", "generate"):
            raise ConfigError(
                f"model `{model.name}`: the llamacpp backend cannot {model.task}", 'use `task = "generate"`'
            )
        with file.open("rb") as opened:
            head = opened.read(65_536)
        if head[:4] != b"GGUF":
            raise ConfigError(f"model `{model.name}`: `{file}` is not a GGUF file", "download it again")
        self._model, self._file = model, file
        size = file.stat().st_size
        context = model.slots * model.context
        self.description = Description(
            name=model.name,
            task="generate",
            backend=NAME,
            weights_bytes=int(size * (1 + context * CONTEXT_SHARE / 8)),
            fingerprint=f"{NAME}-{size}-{hashlib.sha256(head).hexdigest()[:16]}-{context}",
            length_max=model.context,
            slots=model.slots,
        )

    def load(self, device: str = "cpu") -> "LoadedLlama":
        return LoadedLlama(self._model, self._file, device)


class LoadedLlama:
    def __init__(self, model: ModelConfig, file: Path, device: str) -> None:
        import xllamacpp

        settings = xllamacpp.CommonParams()
        settings.model.path = str(file)
        settings.n_parallel = model.slots
        settings.n_ctx = model.slots * model.context
        settings.n_gpu_layers = 0 if device == "cpu" else 999
        if device != "cpu":
            settings.main_gpu = int(device.removeprefix("cuda:"))
        # Use one thread: several threads on busy cores spin against each other, and everything stalls.
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
        settings.cache_ram_mib = 0
        settings.warmup = False
        # The server always listens on a port. A random key keeps everyone but this process out.
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        settings.api_keys = [secrets.token_hex(16)]
        settings.verbosity = -1
        self._server = xllamacpp.Server(settings)

    def compute(self, rows: Sequence[Chat], length: int) -> Sequence[Any]:
        return [self._answer(row) for row in rows]

    def give_back(self) -> None:
        pass  # its working memory is allocated once, together with the weights

    def close(self) -> None:
        del self._server

    def _answer(self, row: Chat) -> Any:
        try:
            if row.told is None:
                answer = self._server.handle_chat_completions(row.request)
            else:
                answer = self._streamed(row)
        except ValueError as error:  # a field of the request that it cannot use
            return Trouble("bad_request", str(error), True)
        failure = answer.get("error") if isinstance(answer, dict) else None
        if failure:
            code = int(failure.get("code", 500))
            return Trouble(str(failure.get("type", "failed")), str(failure.get("message", failure)), 400 <= code < 500)
        return answer

    def _streamed(self, row: Chat) -> Any:
        """Pass on pieces as they are generated. An error arrives as one of them."""
        failure: dict[str, Any] = {}
        timings: dict[str, Any] = {"predicted_n": 0}

        def told(piece: dict[str, Any]) -> bool:
            if "error" in piece:
                failure.update(piece)
                return True
            timings["predicted_n"] += 1
            timings.update(piece.get("timings", {}))  # in the last piece; a stopped answer has none
            assert row.told is not None
            return row.told(piece)

        answer = self._server.handle_chat_completions(row.request, told)
        return failure or (answer if isinstance(answer, dict) and "error" in answer else {"timings": timings})
