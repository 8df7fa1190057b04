"""The clutch on a real model server, against fixed widths measured beside it in the same run."""

from pathlib import Path

import pytest

from e2e.real_server_arms import Arms
from llama_server import LlamaServer

pytestmark = [pytest.mark.xdist_group("llama"), pytest.mark.slow]

TASKS = 24
ROUNDS = 3
WARM_MIN, COLD_MIN = 0.90, 0.75


async def test_the_clutch_is_within_a_tenth_of_the_best_fixed_width(llama_server: LlamaServer, tmp_path: Path) -> None:
    """Medians over interleaved rounds. Where a busy machine leaves it open, as many rounds again are added, once."""
    arms = Arms(llama_server, tmp_path, TASKS)
    await arms.learn(2 * TASKS)
    for _ in range(ROUNDS):
        await arms.add_round()
    if arms.of_best_fixed("warm") < WARM_MIN or arms.of_best_fixed("cold") < COLD_MIN:
        print(f"added {ROUNDS} rounds: {arms.goodput()} after the first {ROUNDS}")
        for _ in range(ROUNDS):
            await arms.add_round()
    found = {name: round(share, 3) for name, share in arms.goodput().items()}
    assert arms.of_best_fixed("warm") >= WARM_MIN, found
    assert arms.of_best_fixed("cold") >= COLD_MIN, found
    remembered = [ran["warm"].started_at_width for ran in arms.rounds]
    assert min(remembered) >= 2, "batching pays on this server, and memory must know it"
