"""How near does `engine.map` come to a semaphore that someone has tuned by hand, on a server that refuses with 429?

Both call the same server with the same client. The semaphore is tried at several sizes first, and the best one is
taken. Then both take turns in the same run. The engine is told no number, and starts from nothing each time.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx
from limited_server import limited_server
from record import record

import manyhands

QUESTION = "engine_map"
#: name → the server, the sizes that a semaphore is tried at, and how many items.
SERVERS: dict[str, tuple[dict[str, Any], tuple[int, ...], int]] = {
    "1,200 a minute": ({"rate": 20.0, "burst": 20, "latency_s": 1.0}, (12, 16, 20, 24, 32), 2400),
    "20 at once": ({"slots": 20, "latency_s": 1.0}, (12, 16, 20, 24, 32), 2400),
}
#: Of the items, so many for each size that is tried.
TRIED = 0.1

Call = Callable[[int], Awaitable[int]]


def caller(client: httpx.AsyncClient, url: str) -> Call:
    async def call(item: int) -> int:
        (await client.get(url)).raise_for_status()
        return item

    return call


async def by_semaphore(call: Call, items: range, size: int) -> None:
    semaphore = asyncio.Semaphore(size)

    async def patient(item: int) -> int:
        async with semaphore:
            for nth in range(100):
                try:
                    return await call(item)
                except httpx.HTTPStatusError as refused:
                    wait_s = float(refused.response.headers.get("retry-after", 0.5))
                    await asyncio.sleep(wait_s * random.uniform(1.0, 2.0) * min(8, 2**nth))
            raise RuntimeError(f"item {item} was refused a hundred times")

    await asyncio.gather(*map(patient, items))


async def by_engine(call: Call, items: range) -> None:
    with tempfile.TemporaryDirectory() as store:
        async with manyhands.Engine(store, progress=False) as engine:
            await engine.map(call, items)


async def paced(url: str, items: range, arm: Callable[[Call, range], Awaitable[None]]) -> float:
    """Items a second."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        began = time.perf_counter()
        await arm(caller(client, url), items)
        return len(items) / (time.perf_counter() - began)


async def measure(name: str, rounds: int) -> float:
    """The engine's pace, of that of the tuned semaphore."""
    server, sizes, count = SERVERS[name]
    items = range(count)
    with limited_server(**server) as url:
        tried = {}
        for size in sizes:
            few = items[: int(TRIED * count)]
            tried[size] = await paced(url, few, partial(by_semaphore, size=size))
            print(f"  {name}: a semaphore of {size}: {tried[size]:.1f}/s", file=sys.stderr)
        best = max(tried, key=lambda size: tried[size])
        shares: list[float] = []
        for _ in range(rounds):
            tuned = await paced(url, items, partial(by_semaphore, size=best))
            ours = await paced(url, items, by_engine)
            shares.append(ours / tuned)
            told = f"semaphore of {best} {tuned:.1f}/s, engine {ours:.1f}/s: {ours / tuned:.3f}"
            print(f"  {name}: {told}", file=sys.stderr)
    share = statistics.median(shares)
    spread = f"{min(shares):.3f}–{max(shares):.3f}"
    print(f"{name}: engine.map has {share:.3f} of the pace of the best semaphore ({best}), {spread}")
    record(QUESTION, {"server": name, "items": count, "rounds": rounds, "best_semaphore": best}, share, "of its pace")
    return share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    for name in SERVERS:
        asyncio.run(measure(name, rounds))


if __name__ == "__main__":
    main()
