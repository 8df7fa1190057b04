"""Real models and real memory: what processes hold, and that vectors do not depend on how items are packed."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path
from statistics import median

import msgspec
import numpy as np
import psutil
import pytest

from manyhands.worker.backends.backend import Description, Tokens
from manyhands.worker.backends.encoder_folder import read_encoder
from manyhands.worker.backends.onnx_encoder import OnnxEncoder
from manyhands.worker.loop.batch_peaks import Peaks
from manyhands.worker.loop.computing import compute, keep_freed_memory
from manyhands.worker.loop.prep_processes import PrepProcesses
from manyhands.worker.loop.text_requests import TextRequests, Threads
from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.model_worker import WorkerSettings, working
from manyhands.worker.values.item_answers import ItemAnswer
from manyhands.worker.values.model_config import ModelConfig
from worker.cuda_in_reach import cuda_of
from worker.docstrings import docstrings, token_lengths

MB = 2**20
SEEDS = 10 if os.environ.get("MANYHANDS_SOAK") else 1
TOKENS_MAX = 1500  # per batch; larger batches take long on a processor


async def test_vectors_are_the_same_whatever_the_packing(minilm: Path) -> None:
    texts = [text[:400] for text in docstrings(24)]
    model = ModelConfig(name="minilm", path=str(minilm), truncate=True)
    async with working(WorkerSettings(models=(model,), workspace=minilm, threads=1, device="cpu")) as worker:
        together = vectors(await worker.answers("minilm", texts))
        alone = [vectors(await worker.answers("minilm", [text])) for text in texts]
        assert worker.engine.counts.batches["minilm"] < 2 * len(texts)
    assert (together * np.concatenate(alone)).sum(1).min() >= 0.999999


def vectors(answers: list[object]) -> np.ndarray:
    assert all(isinstance(answer, ItemAnswer) for answer in answers), answers
    return np.stack([answer.output for answer in answers if isinstance(answer, ItemAnswer)])


async def test_a_process_that_tokenises_is_small_and_has_no_device(
    minilm: Path, cuda_in_reach: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in cuda_in_reach.items():
        monkeypatch.setenv(name, value)
    description = encoder_of(minilm)
    processes, threads = PrepProcesses(1), Threads()
    try:
        texts = [*docstrings(200), ("a question", "and an answer")]
        there = await processes.encode(description, texts, True)
        assert there == await threads.encode(description, texts, True)
        assert await processes.vocabulary(description) == 30_522
        for cut in (False, True):
            long = await processes.encode(description, ["xqz7 jkw " * 1800] * 12, cut)
            assert {len(each.ids) for each in long} == {256 if cut else 12_602}
        (pid,) = processes.pids
        process = psutil.Process(pid)
        assert high_water_bytes(pid) <= 40 * MB
        names = [Path(each.path).name for each in process.memory_maps()]
        assert "libc.so.6" in names
        assert [name for name in names if name.startswith("libnvidia")] == cuda_of(names) == []
        assert process.environ()["CUDA_VISIBLE_DEVICES"] == ""
    finally:
        await processes.close()
        await threads.close()


def high_water_bytes(pid: int) -> int:
    (line,) = [each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


async def test_a_process_that_tokenises_and_is_killed_is_started_anew(minilm: Path) -> None:
    processes = PrepProcesses(1)
    try:
        before = await processes.encode(encoder_of(minilm), ["hello"], False)
        (pid,) = processes.pids
        os.kill(pid, 9)
        assert await processes.encode(encoder_of(minilm), ["hello"], False) == before
        assert processes.pids != [pid]
    finally:
        await processes.close()


def encoder_of(folder: Path) -> Description:
    return Description(
        name="minilm",
        task="embed",
        backend="onnx",
        weights_bytes=0,
        fingerprint="",
        length_max=256,
        tokenizer_file=str(folder / "tokenizer.json"),
    )


def in_a_process_of_its_own(call: str) -> str:
    """What the call prints in a new process, which holds no memory left behind by other tests."""
    program = f"import asyncio, worker.loop.test_real_memory as t; asyncio.run(t.{call})"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_no_real_batch_takes_more_than_was_said_and_what_is_said_is_close(minilm: Path) -> None:
    """This holds from the first batch on, when only the model's configuration is known."""
    calls = [f"measure({str(minilm)!r}, {seed})" for seed in range(10, 10 + SEEDS)]
    batches = [batch for call in calls for batch in msgspec.json.decode(in_a_process_of_its_own(call))]
    assert len(batches) == 100 * SEEDS
    assert median(taken for _, taken in batches) > MB
    assert [(said, taken) for said, taken in batches if taken > said] == []
    overshoot = median(said / max(1, taken) for said, taken in batches)
    print(f"{len(batches)} batches: the median was given {overshoot:.3f} times what it took")
    assert overshoot <= 1.25


async def measure(folder: str, seed: int) -> None:
    """Print the prediction for each of a hundred batches of mixed sizes, and what the batch really took."""
    chance = random.Random(seed)
    keep_freed_memory()
    encoder = read_encoder(Path(folder), None)
    backend = OnnxEncoder("minilm", encoder)
    model, memory, peaks = backend.load(), ActivationMemory(backend.description.activation), Peaks()
    lengths = token_lengths(1000)
    found = []
    for _ in range(100):
        length = max(8, chance.choice(lengths))
        count = min(chance.choice((1, 2, 2, 3, 4, 6, 8, 12, 16, 24)), max(1, TOKENS_MAX // length))
        rows = [Tokens([chance.randrange(1000, 20_000) for _ in range(length)]) for _ in range(count)]
        peaks.begin(model)
        computed = compute(model, rows, length, encoder.hidden)
        taken = peaks.end()
        assert computed.outputs
        assert taken is not None
        found.append((memory.bytes_of(count, length), taken))
        memory.learn(count, length, taken)
    print(msgspec.json.encode(found).decode(), flush=True)


def test_two_models_take_turns_and_hold_little_more_than_their_weights(minilm: Path) -> None:
    grown, weights = map(int, in_a_process_of_its_own(f"hold_two({str(minilm)!r})").split())
    assert grown <= 1.2 * weights, f"{grown / MB:.0f} MB more for {weights / MB:.0f} MB of weights"


async def hold_two(folder: str) -> None:
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
    import tokenizers  # noqa: F401

    models = tuple(ModelConfig(name=name, path=folder) for name in ("one", "two"))
    settings = WorkerSettings(models=models, workspace=Path(folder), threads=1, device="cpu")
    async with working(settings) as worker:
        before = psutil.Process().memory_info().rss
        for _ in range(3):
            await asyncio.gather(*(_some(worker, model.name) for model in models))
        grown = psutil.Process().memory_info().rss - before
        weights = sum(each.weights_bytes for each in worker.engine.descriptions())
    print(grown, weights, flush=True)
    os._exit(0)


async def _some(worker: TextRequests, model: str) -> None:
    answers = await worker.answers(model, [text[:300] for text in docstrings(8)], cut=True)
    assert all(isinstance(answer, ItemAnswer) for answer in answers)
