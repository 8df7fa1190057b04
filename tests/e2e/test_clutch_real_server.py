"""The clutch on a real model server, beside fixed widths.

How near it comes to the best of them is measured by bench/clutch_real_server.py, which has the rounds that it takes.
"""

from pathlib import Path

import pytest

from e2e.real_server_arms import Arms
from llama_server import LlamaServer

pytestmark = [pytest.mark.xdist_group("llama"), pytest.mark.slow]

TASKS = 20


async def test_the_clutch_does_a_backlog_on_a_real_server_as_fixed_widths_do(
    llama_server: LlamaServer, tmp_path: Path
) -> None:
    """Each arm has its whole backlog done, or says what went wrong."""
    arms = Arms(llama_server, tmp_path, TASKS)
    await arms.learn(2 * TASKS)
    await arms.add_round()
    (ran,) = arms.rounds
    for name, width in arms.FIXED.items():
        assert (ran[name].started_at_width, ran[name].ended_at_width, ran[name].why) == (width, width, "pinned")
    assert ran["cold"].started_at_width >= 2, ran["cold"]  # the other begins where the last run settled, be it 1
    for name in ("cold", "warm"):
        # Readings of the queue come late on a busy machine: 5 times the slots were seen there, twice when it is quiet.
        assert 1 <= ran[name].ended_at_width <= 8 * llama_server.slots, ran[name]
        assert ran[name].why not in ("", "pinned"), ran[name]
