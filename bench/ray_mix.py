"""How much longer does a mix of 30 tasks take on three nodes of a Ray cluster than it would at best?

10 tasks of 0.3 s two at a time, 10 of 0.2 s three at a time, 10 of 0.4 s two at a time, each kind on a node of its
own; all three kinds run at once, so 2 s is the least. The nodes are real raylets on this machine. Also: how soon a
process there is gone when its task is cancelled.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from record import record

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from hosts.ray_host.ray_stage import ray_cluster
from manyhands.assembly import open_session
from manyhands.core.events import CancelAsked
from manyhands.core.values.task import Claims, Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import opening
from manyhands.sources.config.config_reading import load_config

MIX = {"code": (0.3, 2), "text": (0.2, 3), "reasoning": (0.4, 2)}
EACH = 10
IDEAL_S = max(-(-EACH // width) * takes_s for takes_s, width in MIX.values())
ROUNDS = 5


async def run(dispatcher: Dispatcher, name: str, each: int) -> float:
    tasks = [
        Task(f"{kind}-{n}", kind=kind, run=("sleep", str(takes_s)), claims=Claims())
        for n in range(each)
        for kind, (takes_s, _) in MIX.items()
    ]
    begun = time.perf_counter()
    await dispatcher.submit(*opening(name, dispatcher.clock.now(), tasks))
    await dispatcher.wait_settled(name)
    return time.perf_counter() - begun


async def cancelled_after_s(dispatcher: Dispatcher, name: str) -> float:
    """From the word of a person until the process is dead and that is on disk."""
    task = Task("sleeper", kind="code", run=("sleep", "1000"), claims=Claims())
    await dispatcher.submit(*opening(name, dispatcher.clock.now(), [task]))
    while not any(running.process for running in dispatcher.book.running.values()):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    begun = time.perf_counter()
    await dispatcher.submit(CancelAsked(dispatcher.clock.now(), name, "sleeper"))
    await dispatcher.wait_settled(name)
    return time.perf_counter() - begun


async def measure(directory: Path, address: str) -> tuple[float, list[float], list[float]]:
    (directory / "manyhands.toml").write_text(
        "\n".join(
            f'[hosts.{kind}]\ntype = "ray"\naddress = "{address}"\nnodes = {{ kind = "{kind}" }}\n'
            f'kinds = ["{kind}"]\nwidth = {width}'
            for kind, (_, width) in MIX.items()
        )
    )
    async with open_session(load_config(directory, environ={})) as dispatcher:
        cold_s = await run(dispatcher, "cold", EACH)
        warm = [await run(dispatcher, f"warm-{n}", EACH) for n in range(ROUNDS)]
        cancels = [await cancelled_after_s(dispatcher, f"cancel-{n}") for n in range(ROUNDS)]
    return cold_s, warm, cancels


def main() -> None:
    with ray_cluster() as cluster, tempfile.TemporaryDirectory() as directory:
        cold_s, warm, cancels = asyncio.run(measure(Path(directory), cluster.address))
    ratio = statistics.median(warm) / IDEAL_S
    print(
        f"{3 * EACH} tasks on 3 nodes: {ratio:.3f} × the ideal of {IDEAL_S:g} s (rounds {[f'{w:.3f}' for w in warm]})"
    )
    print(f"the first, with actors to start: {cold_s / IDEAL_S:.3f} ×")
    print(f"cancelled, dead and on record: {statistics.median(cancels):.3f} s (the longest {max(cancels):.3f} s)")
    params = {"tasks": 3 * EACH, "nodes": 3, "rounds": ROUNDS}
    record("ray_mix", params, ratio, "× the ideal")
    record("ray_mix", {**params, "start": "cold"}, cold_s / IDEAL_S, "× the ideal")
    record("ray_cancel", {"rounds": ROUNDS}, max(cancels), "s at most")


if __name__ == "__main__":
    main()
