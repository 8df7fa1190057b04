"""Embeds texts in bulk with one of the peers; run by bench/embeddings.py with the Python that has them installed.

    python embedding_arms.py ARM MODEL_FOLDER TEXTS.json VECTORS.f32

Prints the processor's seconds that embedding took, without loading and warming up.
"""

import asyncio
import json
import os
import resource
import sys
from typing import Any

import numpy as np

WARM_UP = 32


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def sentence_transformers(folder: str, texts: list[str]) -> tuple[Any, float]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(folder, device="cpu")
    model.encode(texts[:WARM_UP])
    began = cpu_s()
    vectors = model.encode(texts, batch_size=32, show_progress_bar=False)
    return vectors, cpu_s() - began


def infinity(folder: str, texts: list[str]) -> tuple[Any, float]:
    import torch
    from infinity_emb import AsyncEmbeddingEngine, EngineArgs

    torch.set_num_threads(1)
    settings = EngineArgs(
        model_name_or_path=folder, engine="torch", device="cpu", batch_size=32, bettertransformer=False, dtype="float32"
    )
    engine = AsyncEmbeddingEngine.from_args(settings)

    async def embed() -> tuple[Any, float]:
        async with engine:
            await engine.embed(sentences=texts[:WARM_UP])
            began = cpu_s()
            vectors, _ = await engine.embed(sentences=texts)
            return vectors, cpu_s() - began

    return asyncio.run(embed())


def main() -> None:
    arm, folder, texts_file, vectors_file = sys.argv[1:]
    with open(texts_file) as file:
        texts = json.load(file)
    vectors, seconds = {"sentence-transformers": sentence_transformers, "infinity": infinity}[arm](folder, texts)
    np.asarray(vectors, np.float32).tofile(vectors_file)
    print(json.dumps({"cpu_s": seconds}), flush=True)
    os._exit(0)  # some leave threads behind that never end


if __name__ == "__main__":
    main()
