"""Embeds real texts under a real bound on the process's memory; run as a program by test_real_memory.py.

    python short_of_memory.py MODEL_FOLDER

Prints what became of the texts, under and after the bound.
"""

import asyncio
import json
import os
import resource
import sys
from pathlib import Path

from manyhands.config.models import ModelConfig
from manyhands.models.engine.answers import Answer
from manyhands.models.engine.computing import give_back_memory
from manyhands.models.engine.texts import Texts
from manyhands.models.worker import WorkerSettings, working

TEXTS = [f"text number {number} about {'memory and what it is worth ' * 32}" for number in range(20)]
ROOM_BYTES = 16 * 2**20


def mapped_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


async def embedded(worker: Texts, texts: list[str] = TEXTS) -> list[list[float] | str]:
    answers = await worker.answers("minilm", texts)
    return [answer.output.tolist() if isinstance(answer, Answer) else answer.message for answer in answers]


async def main(folder: str) -> None:
    model = ModelConfig(name="minilm", path=folder)
    settings = WorkerSettings(models=(model,), workspace=Path(folder), threads=1, device="cpu", batch_seconds_max=5.0)
    async with working(settings) as worker:
        await embedded(worker, ["it is loaded by now"])
        give_back_memory()
        resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + ROOM_BYTES, resource.RLIM_INFINITY))
        under = await embedded(worker)
        failures = worker.engine.counts.batches_out_of_memory["minilm"]
        trouble = worker.engine.trouble()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        after = await embedded(worker)
    told = {"under": under, "after": after, "failures": failures, "trouble": trouble}
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
    os._exit(0)
