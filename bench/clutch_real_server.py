"""How near does the clutch come to the best fixed width on a real model server?

llama.cpp on loopback with a small random model (see tests/llama_server.py), asked through the dispatcher and an openai
host with the llamacpp probe. Fixed widths and the clutch take turns in interleaved rounds.
"""

import asyncio
import statistics
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from record import record

from e2e.real_server_arms import Arms
from llama_server import LlamaServer, cached_model, serve_until_done

QUESTION = "clutch_real_server"
TASKS, ROUNDS = 40, 12
serving = contextmanager(serve_until_done)


async def measure(server: LlamaServer) -> Arms:
    with tempfile.TemporaryDirectory() as directory:
        arms = Arms(server, Path(directory), TASKS)
        await arms.learn(2 * TASKS)
        for number in range(ROUNDS):
            await arms.add_round()
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        return arms


def main() -> None:
    with serving(cached_model()) as server:
        arms = asyncio.run(measure(server))
    print(f"{'width':>8}  {'calls/s':>8}  of the best fixed (90 % range)")
    for name in arms.NAMES:
        calls_per_s = statistics.median(ran[name].goodput_per_s for ran in arms.rounds)
        share, (low, high) = arms.of_best_fixed(name), arms.range_of_best_fixed(name)
        print(f"{name:>8}  {calls_per_s:8.2f}  {share:.3f} ({low:.3f}–{high:.3f})")
        params = {"width": name, "tasks": TASKS, "rounds": ROUNDS, "slots": server.slots}
        record(QUESTION, params, calls_per_s, "calls/s")
        record(QUESTION, params, share, "of the best fixed width")
        record(QUESTION, params, low, "at least, of the best fixed width")
        record(QUESTION, params, high, "at most, of the best fixed width")


if __name__ == "__main__":
    main()
