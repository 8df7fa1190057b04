"""How many embeddings does a second of the processor's time give, in bulk and over HTTP, beside what others do?

The same model (MiniLM-L6 in fp32) and the same docstrings for all, one thread each, in one run. In bulk: the worker's
engine, the same backend in fixed batches of 32 as they come, and with `--peers PYTHON` (an environment that has
sentence-transformers and infinity-emb) theirs. Over HTTP: one text a request, 16 and 64 in flight, in short turns.
"""

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx
import numpy as np
import psutil
from asking import a_post, ask
from record import record

from manyhands.worker.backends.backend import Tokens
from manyhands.worker.backends.encoder_folder import read_encoder
from manyhands.worker.backends.onnx_encoder import OnnxEncoder
from manyhands.worker.loop.computing import keep_freed_memory
from manyhands.worker.loop.tokenizing import Tokenizing
from manyhands.worker.model_worker import WorkerSettings, working
from manyhands.worker.values.item_answers import ItemAnswer
from manyhands.worker.values.model_config import ModelConfig
from real_models import MINILM, unpacked
from worker.docstrings import docstrings

QUESTION = "embeddings"
WARM_UP = 32
ROUNDS = 3
#: Over HTTP the two servers take short turns: what else the machine does then disturbs both alike.
HTTP_ROUNDS = 7
HTTP_TEXTS = {16: 64, 64: 128}  # in flight → asked for in one turn
#: The worker measures the memory of its first batches, which costs them: they are not what is asked about.
HTTP_WARM_UP = 192
READY_WITHIN_S = 300
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
ONE_THREAD |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1"}

Vectors = Any


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def naive(folder: Path, texts: list[str]) -> tuple[Vectors, float]:
    """Fixed batches of 32, as they come."""
    backend = OnnxEncoder("minilm", read_encoder(folder, None))
    tokenizing = Tokenizing(backend.description.tokenizer_file, backend.description.length_max)
    model = backend.load()

    def embed(some: list[str]) -> list[Vectors]:
        found: list[Vectors] = []
        for begin in range(0, len(some), 32):
            rows = [Tokens(each.ids) for each in tokenizing.encode(some[begin : begin + 32], cut=True)]
            found.extend(model.compute(rows, max(len(row.ids) for row in rows)))
        return found

    keep_freed_memory()
    embed(texts[:WARM_UP])
    began = cpu_s()
    vectors = embed(texts)
    return np.stack(vectors), cpu_s() - began


def ours(folder: Path, texts: list[str]) -> tuple[Vectors, float]:
    async def embed() -> tuple[Vectors, float]:
        model = ModelConfig(name="minilm", path=str(folder), truncate=True)
        async with working(WorkerSettings(models=(model,), workspace=folder, threads=1, device="cpu")) as worker:
            await worker.answers("minilm", texts[:WARM_UP])
            began = cpu_s()
            answers = await worker.answers("minilm", texts)
            spent = cpu_s() - began
        assert all(isinstance(answer, ItemAnswer) for answer in answers)
        return np.stack([answer.output for answer in answers if isinstance(answer, ItemAnswer)]), spent

    return asyncio.run(embed())


def two_models(folder: Path, texts: list[str], together: bool) -> tuple[Vectors, float]:
    """Half of the texts for each of two models in one process: one after the other, or both at once."""
    middle = len(texts) // 2
    work = {"one": texts[:middle], "two": texts[middle:]}

    async def embed() -> tuple[Vectors, float]:
        models = tuple(ModelConfig(name=name, path=str(folder), truncate=True) for name in work)
        async with working(WorkerSettings(models=models, workspace=folder, threads=1, device="cpu")) as worker:
            for name in work:
                await worker.answers(name, texts[:WARM_UP])
            began = cpu_s()
            if together:
                answers = await asyncio.gather(*(worker.answers(name, some) for name, some in work.items()))
            else:
                answers = [await worker.answers(name, some) for name, some in work.items()]
            spent = cpu_s() - began
        return np.stack([answer.output for some in answers for answer in some if isinstance(answer, ItemAnswer)]), spent

    return asyncio.run(embed())


ARMS: dict[str, Callable[[Path, list[str]], tuple[Vectors, float]]] = {
    "naive": naive,
    "manyhands": ours,
    "two in turn": lambda folder, texts: two_models(folder, texts, together=False),
    "two at once": lambda folder, texts: two_models(folder, texts, together=True),
}
PEERS = ("sentence-transformers", "infinity")


def run_arm(arm: str, python: str, folder: Path, texts: Path, scratch: Path) -> tuple[Vectors, float]:
    """Each in a process of its own, so that nobody's memory or threads are another's."""
    script = Path(__file__).with_name("peers") / "embedding_arms.py" if arm in PEERS else Path(__file__)
    vectors = scratch / f"{arm}.f32"
    command = [python, str(script), *([] if arm in PEERS else ["--arm"]), arm, str(folder), str(texts), str(vectors)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{arm}: {done.stderr[-2000:]}")
    found = np.fromfile(vectors, np.float32)
    return found.reshape(-1, 384), json.loads(done.stdout.strip().splitlines()[-1])["cpu_s"]


def bulk(folder: Path, texts: list[str], peers: str | None, scratch: Path) -> None:
    file = scratch / "texts.json"
    file.write_text(json.dumps(texts))
    arms = [*ARMS, *(PEERS if peers else ())]
    seconds: dict[str, list[float]] = {arm: [] for arm in arms}
    nearest: dict[str, float] = {}
    for _ in range(ROUNDS):
        rows: dict[str, Vectors] = {}
        for arm in arms:
            rows[arm], spent = run_arm(arm, peers or "" if arm in PEERS else sys.executable, folder, file, scratch)
            seconds[arm].append(spent)
        nearest = {arm: least_cosine(rows[arm], rows["manyhands"]) for arm in arms}
    at_once = statistics.median(seconds["two in turn"]) / statistics.median(seconds["two at once"])
    print(f"two models at once: {at_once:.2f} of the two in turn")
    record(QUESTION, {"way": "bulk", "models": 2, "texts": len(texts)}, at_once, "of the two models in turn")
    best = len(texts) / statistics.median(seconds["manyhands"])
    print(f"{'in bulk':24} {'per CPU second':>15} {'manyhands is':>13}  least cosine to it")
    for arm in arms:
        rate = len(texts) / statistics.median(seconds[arm])
        print(f"{arm:24} {rate:15.1f} {best / rate:12.2f}×  {nearest[arm]:.7f}")
        params = {"way": "bulk", "arm": arm, "texts": len(texts), "threads": 1, "rounds": ROUNDS}
        record(QUESTION, params, rate, "embeddings per CPU second")
        if arm != "manyhands":
            record(QUESTION, params, best / rate, "times as many by manyhands")


def least_cosine(one: Vectors, other: Vectors) -> float:
    dots, lengths = (one * other).sum(1), np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float((dots / lengths).min())


@contextmanager
def server(command: list[str], url: str, cwd: Path) -> Iterator[tuple[str, psutil.Process]]:
    log = (cwd / "server.log").open("w")
    process = subprocess.Popen(command, env=os.environ | ONE_THREAD, stdout=log, stderr=log, cwd=cwd)
    try:
        deadline = time.monotonic() + READY_WITHIN_S
        while True:
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{command[0]} did not come up: {(cwd / 'server.log').read_text()[-2000:]}")
            try:
                if httpx.get(f"{url}/health", timeout=2).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()
        log.close()


def spent_by(server: psutil.Process) -> float:
    """Of the processor, by the server and what it started."""
    each = [server, *server.children(recursive=True)]
    return sum(times.user + times.system for times in (process.cpu_times() for process in each))


class Turn(NamedTuple):
    """One server's turn at one round."""

    a_second: float
    p95_s: float
    per_cpu_s: float  # answers for each second of the processor
    client_s: float  # of the processor, for each answer


def asked(server: tuple[str, psutil.Process], texts: list[str], in_flight: int) -> Turn:
    url, process = server
    bodies = [json.dumps({"model": "minilm", "input": text}).encode() for text in texts]
    requests = [a_post(url, "/embeddings", body) for body in bodies]
    before = spent_by(process)
    took = ask(url, requests, in_flight)
    return Turn(took.a_second, took.p95_s, len(texts) / (spent_by(process) - before), took.client_cpu_s / len(texts))


def over_http(folder: Path, texts: list[str], peers: str, scratch: Path, rounds: int) -> None:
    ports = [free_port(), free_port()]
    toml = f'[models.minilm]\npath = "{folder}"\ntruncate = true\n'
    (scratch / "manyhands.toml").write_text(toml)
    mine = [sys.executable, "-m", "manyhands", "worker", "--port", str(ports[0]), "--threads", "1", "--device", "cpu"]
    theirs = [str(Path(peers).with_name("infinity_emb")), "v2", "--model-id", str(folder), "--port", str(ports[1])]
    theirs += ["--served-model-name", "minilm", "--device", "cpu", "--engine", "torch", "--dtype", "float32"]
    theirs += ["--no-bettertransformer", "--host", "127.0.0.1", "--batch-size", "32"]
    turns: dict[tuple[str, int], list[Turn]] = {}
    (scratch / "theirs").mkdir()
    with (
        server(mine, f"http://127.0.0.1:{ports[0]}", scratch) as one,
        server(theirs, f"http://127.0.0.1:{ports[1]}", scratch / "theirs") as other,
    ):
        arms = [("manyhands", one), ("infinity", other)]
        for _, each in arms:
            asked(each, texts[:HTTP_WARM_UP], 16)
        for number in range(rounds):
            for in_flight, count in HTTP_TEXTS.items():
                begin = number * count % max(1, len(texts) - count + 1)
                for arm, each in arms if number % 2 else reversed(arms):
                    turn = asked(each, texts[begin : begin + count], in_flight)
                    turns.setdefault((arm, in_flight), []).append(turn)
                    print(f"round {number}: {arm}, {in_flight} in flight: {turn.a_second:.1f} a second", flush=True)
    tell_http(turns, rounds)


def tell_http(turns: dict[tuple[str, int], list[Turn]], rounds: int) -> None:
    """Medians of the rounds; ratios of each round's pair, so that what disturbs both counts for neither."""
    print(
        f"{'one text a request':20} {'in flight':>9} {'a second':>9} {'95 % within':>12} {'per CPU s':>9} {'client':>8}"
    )
    units = ("embeddings/s", "s, 95 % within", "embeddings per CPU second", "s of the client's CPU an embedding")
    for (arm, in_flight), of_arm in sorted(turns.items(), key=lambda each: each[0][1]):
        params = {"way": "http", "arm": arm, "in_flight": in_flight, "texts": HTTP_TEXTS[in_flight], "rounds": rounds}
        middle = Turn(*(statistics.median(column) for column in zip(*of_arm, strict=True)))
        print(
            f"{arm:20} {in_flight:9} {middle.a_second:9.1f} {middle.p95_s:10.2f} s {middle.per_cpu_s:10.1f}"
            f" {middle.client_s * 1e3:6.2f} ms"
        )
        for unit, value in zip(units, middle, strict=True):
            record(QUESTION, params, value, unit)
    ratios = ("times as many by manyhands", "times its p95 by manyhands", "times as many per CPU second by manyhands")
    for in_flight in HTTP_TEXTS:
        pairs = list(zip(turns["manyhands", in_flight], turns["infinity", in_flight], strict=True))
        by_round = [[mine / theirs for mine, theirs in zip(*pair, strict=True)][:3] for pair in pairs]
        found = [sorted(column) for column in zip(*by_round, strict=True)]
        shown = [f"{statistics.median(column):.2f} × ({column[0]:.2f} to {column[-1]:.2f})" for column in found]
        print(f"{in_flight} in flight, of infinity's: {shown[0]}, p95 {shown[1]}, per CPU second {shown[2]}")
        params = {
            "way": "http",
            "arm": "infinity",
            "in_flight": in_flight,
            "texts": HTTP_TEXTS[in_flight],
            "rounds": rounds,
        }
        for unit, column in zip(ratios, found, strict=True):
            record(QUESTION, params, statistics.median(column), unit)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def main() -> None:
    reading = argparse.ArgumentParser()
    reading.add_argument("--peers", metavar="PYTHON", help="one that has sentence-transformers and infinity-emb")
    reading.add_argument("--texts", type=int, default=512)
    reading.add_argument("--rounds", type=int, default=HTTP_ROUNDS, help="over HTTP")
    reading.add_argument("--only", choices=["bulk", "http"])
    reading.add_argument("--arm", nargs=4, help=argparse.SUPPRESS)
    given = reading.parse_args()
    if given.arm:
        arm, folder, texts_file, vectors_file = given.arm
        vectors, seconds = ARMS[arm](Path(folder), json.loads(Path(texts_file).read_text()))
        np.asarray(vectors, np.float32).tofile(vectors_file)
        print(json.dumps({"cpu_s": seconds}), flush=True)
        os._exit(0)
    folder, texts = unpacked(MINILM), list(docstrings(given.texts))
    with tempfile.TemporaryDirectory() as scratch:
        if given.only != "http":
            bulk(folder, texts, given.peers, Path(scratch))
        if given.peers and given.only != "bulk":
            over_http(folder, texts, given.peers, Path(scratch), given.rounds)
    if not given.peers:
        print("without --peers PYTHON: no sentence-transformers, no infinity, nothing over HTTP")


if __name__ == "__main__":
    main()
