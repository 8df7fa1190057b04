"""A real OpenAI-compatible server for the tests: llama.cpp on loopback with a small random model.

One per test process, started when the first test asks for it. It cannot outlive the tests: it ends when the
pipe that they hold closes, however they end. Run as a program, this file is the server.
"""

import importlib.util
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest

SLOTS = 4
CONTEXT_PER_SLOT = 2048
#: Part of the file's name in the cache: change it together with `write_random_model`.
MODEL_VERSION = 1
READY_WITHIN_S = 30.0
STOPPED_WITHIN_S = 5.0

VOCABULARY, WIDTH, LAYERS, HEADS, FEED_FORWARD = 512, 256, 6, 4, 704


@dataclass(frozen=True)
class LlamaServer:
    root: str  # where /health, /metrics and /slots are
    pid: int
    slots: int = SLOTS
    model: str = "random"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"


@pytest.fixture(scope="session")
def llama_server() -> Iterator[LlamaServer]:
    for package in ("xllamacpp", "gguf"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"no real model server: {package} is not installed (it is in the dev extra)")
    yield from serve_until_done(cached_model())


def serve_until_done(model: Path) -> Iterator[LlamaServer]:
    command = [sys.executable, __file__, str(model)]
    # Its log goes nowhere: a pipe nobody reads would fill up and stop it.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            root = process.stdout.readline().strip()
            if not root:
                pytest.fail(f"the model server ended with status {process.wait()} before it listened")
            wait_until_healthy(root)
            yield LlamaServer(root, process.pid)
            process.stdin.close()
            process.wait(STOPPED_WITHIN_S)
        finally:
            process.kill()


def wait_until_healthy(root: str) -> None:
    deadline = monotonic() + READY_WITHIN_S
    answer = "nothing"
    while monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{root}/health", timeout=2) as response:
                if json.load(response).get("status") == "ok":
                    return
        except (urllib.error.URLError, OSError) as error:  # 503 while it loads the model
            answer = str(error)
        sleep(0.02)
    pytest.fail(f"the model server at {root} was not ready within {READY_WITHIN_S:g} s: {answer}")


def cached_model() -> Path:
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    model = caches / "manyhands-tests" / f"random-{MODEL_VERSION}.gguf"
    if not model.exists():
        model.parent.mkdir(parents=True, exist_ok=True)
        # Test processes may make it at the same time: each writes its own and the last rename stands.
        mine = model.with_suffix(f".{os.getpid()}")
        write_random_model(mine)
        mine.replace(model)
    return model


def write_random_model(path: Path) -> None:
    """A llama of 5 million weights, 20 MB: it answers nonsense, but at the price of real work."""
    import gguf
    import numpy as np

    weights = np.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT_PER_SLOT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(VOCABULARY)
    add_tokenizer(writer)

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, (weights.standard_normal((rows, columns)) * 0.05).astype(np.float32))

    def norm(name: str) -> None:
        writer.add_tensor(name, np.ones(WIDTH, np.float32))

    matrix("token_embd.weight", VOCABULARY, WIDTH)
    matrix("output.weight", VOCABULARY, WIDTH)
    norm("output_norm.weight")
    for layer in range(LAYERS):
        norm(f"blk.{layer}.attn_norm.weight")
        norm(f"blk.{layer}.ffn_norm.weight")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{layer}.{name}.weight", WIDTH, WIDTH)
        matrix(f"blk.{layer}.ffn_gate.weight", FEED_FORWARD, WIDTH)
        matrix(f"blk.{layer}.ffn_up.weight", FEED_FORWARD, WIDTH)
        matrix(f"blk.{layer}.ffn_down.weight", WIDTH, FEED_FORWARD)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tokenizer(writer: "gguf.GGUFWriter") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Three control tokens, every byte, and made-up words for the rest of the vocabulary."""
    import gguf

    control, byte, word = gguf.TokenType.CONTROL, gguf.TokenType.BYTE, gguf.TokenType.NORMAL
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{value:02X}>" for value in range(256))]
    words = [f"▁w{number}" for number in range(VOCABULARY - len(tokens))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.encode() for token in tokens + words])
    writer.add_token_scores([0.0] * len(tokens) + [-float(number) for number in range(len(words))])
    writer.add_token_types([gguf.TokenType.UNKNOWN, control, control] + [byte] * 256 + [word] * len(words))
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(
        "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"
    )


def serve(model: str) -> None:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {"random"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_parallel = SLOTS
    settings.n_ctx = SLOTS * CONTEXT_PER_SLOT
    settings.endpoint_metrics = True
    settings.endpoint_slots = True
    # One thread: under load two of them on two shared cores spin against each other and everything stalls.
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads may be deep in a request; nothing of it is worth waiting for


if __name__ == "__main__":
    serve(sys.argv[1])
