"""A worker whose process is kept from taking more memory by a kernel limit."""

import resource
from pathlib import Path

from manyhands.worker.backends.encoder_folder import read_encoder
from manyhands.worker.backends.onnx_encoder import OnnxEncoder
from manyhands.worker.memory.fitting import SeenBatch
from manyhands.worker.memory.learned_store import Learned, LearnedStore
from worker.http.live_worker import at_work

TEXTS = [f"text number {number} about {'memory and what it is worth ' * 32}" for number in range(16)]
#: One text takes 8 MB and all texts take 120 MB. The process holds a few unused megabytes as well.
ROOM_BYTES = 32 * 2**20


def mapped_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


def believes_that_large_batches_are_cheap(minilm: Path, directory: Path) -> None:
    """Store durations of a faster machine, so that all texts go into one batch."""
    learned = Learned(durations=tuple(SeenBatch(2**n, 16 * n, 0.01 + 1e-7 * 2**n * 16 * n) for n in range(1, 9)))
    fingerprint = OnnxEncoder("minilm", read_encoder(minilm, None)).description.fingerprint
    LearnedStore(directory / ".manyhands" / "worker-memory.json").save({fingerprint: learned})


def test_a_real_allocation_failure_loses_no_item_and_the_worker_goes_on(minilm: Path, tmp_path: Path) -> None:
    """The process may map only a few more megabytes, so the first large batch fails deep in the library."""
    believes_that_large_batches_are_cheap(minilm, tmp_path)
    with at_work([f"minilm={minilm}"], tmp_path, "--threads", "1") as worker:
        (before,) = worker.embed(TEXTS[0])
        pid = worker.process.pid
        resource.prlimit(pid, resource.RLIMIT_AS, (mapped_bytes(pid) + ROOM_BYTES, resource.RLIM_INFINITY))
        under = worker.embed(*TEXTS)
        assert worker.figure("out_of_memory_total", "minilm") >= 1
        assert worker.http.get("/health").json() == {"status": "ok", "detail": ""}
        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        after = worker.embed(*TEXTS)
    assert not [row for row in (*under, *after) if row["embedding"] is None]
    for one, other in zip((before, *under), (after[0], *after), strict=True):
        assert sum(a * b for a, b in zip(one["embedding"], other["embedding"], strict=True)) > 0.999999
