"""The clutch on a real model server, against fixed widths measured beside it in the same run.

The server has one thread, and on it widths from 1 to 8 differ by less than a busy machine makes rounds differ (see
bench/clutch_real_server.py). So this finds a clutch that does harm there, not one that misses a knee by a little: the
simulated hosts are for that.
"""

from pathlib import Path

import pytest

from e2e.real_server_arms import Arms
from llama_server import LlamaServer

pytestmark = [pytest.mark.xdist_group("llama"), pytest.mark.slow]

TASKS = 20
ROUNDS = 4
#: The goal, of the best fixed width. It counts as missed when the whole range of what the rounds allow lies below it.
WARM_GOAL, COLD_GOAL = 0.90, 0.80
#: However wide that range is.
LEAST = 0.70


def missed(arms: Arms) -> list[str]:
    goals = {"warm": WARM_GOAL, "cold": COLD_GOAL}
    return [
        name
        for name, goal in goals.items()
        if arms.range_of_best_fixed(name)[1] < goal or arms.of_best_fixed(name) < LEAST
    ]


async def test_nothing_says_that_the_clutch_is_a_tenth_below_the_best_fixed_width(
    llama_server: LlamaServer, tmp_path: Path
) -> None:
    """Medians over interleaved rounds. If they say it is, as many rounds again are added to them, once."""
    arms = Arms(llama_server, tmp_path, TASKS)
    await arms.learn(2 * TASKS)
    for _ in range(ROUNDS):
        await arms.add_round()
    if missed(arms):
        print(f"{missed(arms)} below the goal after {ROUNDS} rounds ({arms.goodput()}): {ROUNDS} more are added")
        for _ in range(ROUNDS):
            await arms.add_round()
    found = {name: (round(arms.of_best_fixed(name), 3), arms.range_of_best_fixed(name)) for name in arms.NAMES}
    print(found)
    assert missed(arms) == [], found
