"""A worker whose process may take no more memory, by the kernel's word."""

import resource
from pathlib import Path

from models.server.live_worker import at_work

TEXTS = [f"text number {number} about {'memory and what it is worth ' * 32}" for number in range(16)]
ROOMS_BYTES = tuple(room * 2**20 for room in (8, 4, 2, 1))


def mapped_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


def test_a_real_allocation_failure_loses_no_item_and_the_worker_goes_on(minilm: Path, tmp_path: Path) -> None:
    """The process may map a few megabytes more and no others: the first large batch fails deep in the library."""
    with at_work([f"minilm={minilm}"], tmp_path, "--threads", "1") as worker:
        (before,) = worker.embed(TEXTS[0])
        pid = worker.process.pid
        for room_bytes in ROOMS_BYTES:  # how much the library has kept for itself is not to be known
            resource.prlimit(pid, resource.RLIMIT_AS, (mapped_bytes(pid) + room_bytes, resource.RLIM_INFINITY))
            under = worker.embed(*TEXTS)
            if ran_out := worker.figure("out_of_memory_total", "minilm"):
                break
        assert ran_out >= 1
        assert worker.http.get("/health").json() == {"status": "ok", "detail": ""}
        resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        after = worker.embed(*TEXTS)
    assert not [row for row in (*under, *after) if row["embedding"] is None]
    for one, other in zip((before, *under), (after[0], *after), strict=True):
        assert sum(a * b for a, b in zip(one["embedding"], other["embedding"], strict=True)) > 0.999999
