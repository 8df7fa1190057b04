"""What does a request cost the worker's processor besides the model?

The whole path with a model that computes nothing: HTTP, JSON, the tokenizer of MiniLM, planner, threads, 384 numbers
back. One text a request, 16 in flight; beside it `/health`, which is HTTP alone, and the same path once without HTTP.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import psutil
from asking import a_post, ask
from record import record

from manyhands.worker.backends.backend import Tokens
from manyhands.worker.backends.encoder_folder import read_encoder
from manyhands.worker.backends.onnx_encoder import describe
from manyhands.worker.devices.cpu_device import CpuDevice
from manyhands.worker.http.serving import serving
from manyhands.worker.http.worker_app import make_app
from manyhands.worker.loop.hosting import Hosting
from manyhands.worker.loop.text_requests import TextRequests, Threads
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.planning.planner import Planner
from real_models import MINILM, unpacked
from worker.docstrings import docstrings

QUESTION = "http_path"
IN_FLIGHT = 16
ROUNDS = 5
WARM_UP = 1024  # the memory of the first batches is measured, which costs them


class Nothing:
    """A backend whose model answers at once, with the numbers a real one would have."""

    def __init__(self, folder: Path) -> None:
        self.description = describe("minilm", read_encoder(folder, None), "nothing", None)
        self._vector = np.random.default_rng(7).normal(size=self.description.width).astype(np.float32)

    def load(self, device: str = "cpu") -> "Nothing":
        return self

    def compute(self, rows: Sequence[Tokens], length: int) -> Any:
        return np.tile(self._vector, (len(rows), 1))

    def close(self) -> None:
        pass


async def serve() -> None:
    backend = Nothing(unpacked(MINILM))
    engine = WorkerLoop(Hosting({"minilm": backend}, 1), Planner(in_flight_max=1), CpuDevice())
    engine.start([backend.description.spec(in_flight_max=1, batch_seconds_max=0.15)])
    texts = TextRequests(engine, Threads(), {"minilm": True})
    async with serving(make_app(texts), "127.0.0.1", 0, "") as url:
        print(url, flush=True)
        await without_http(texts)
        await asyncio.to_thread(sys.stdin.read)


async def without_http(texts: TextRequests) -> None:
    """As many callers in one process; told as one line of milliseconds."""
    some = list(docstrings(WARM_UP))

    async def one() -> None:
        while left:
            await texts.answers("minilm", [left.pop()])

    spent = []
    for _ in range(1 + ROUNDS):
        left = list(some)
        began = time.process_time()
        await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))
        spent.append((time.process_time() - began) / len(some) * 1e3)
    print(statistics.median(spent[1:]), flush=True)


def cpu_ms(process: psutil.Process, url: str, requests: list[bytes]) -> float:
    before = process.cpu_times()
    ask(url, requests, IN_FLIGHT)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / len(requests) * 1e3


def main() -> None:
    reading = argparse.ArgumentParser()
    reading.add_argument("--texts", type=int, default=2048)
    reading.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = reading.parse_args()
    if given.serve:
        asyncio.run(serve())
        os._exit(0)
    texts = list(docstrings(given.texts))
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url, spent = server.stdout.readline().strip(), {"without HTTP": [float(server.stdout.readline())]}
        process = psutil.Process(server.pid)
        arms = {
            "health": [f"GET /health HTTP/1.1\r\nhost: {url.removeprefix('http://')}\r\n\r\n".encode()] * len(texts)
        }
        for coding in ("float", "base64"):
            bodies = [json.dumps({"model": "minilm", "input": text, "encoding_format": coding}) for text in texts]
            arms[coding] = [a_post(url, "/v1/embeddings", body.encode()) for body in bodies]
        for _ in range(ROUNDS):
            for arm, requests in arms.items():
                spent.setdefault(arm, []).append(cpu_ms(process, url, requests))
        assert server.stdin is not None
        server.stdin.close()
    for arm, each in spent.items():
        print(f"{arm:14}{statistics.median(each):7.3f} ms of the processor a request")
        params = {"arm": arm, "in_flight": IN_FLIGHT, "texts": len(texts), "rounds": ROUNDS}
        record(QUESTION, params, statistics.median(each), "ms of CPU a request")


if __name__ == "__main__":
    main()
