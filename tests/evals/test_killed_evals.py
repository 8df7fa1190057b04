"""An eval killed with -9 at random instants goes on where it was, and finds what an undisturbed one finds.

Method: agents append to files, so that one that was begun anew on what a killed one left would show in its score.
"""

import os
import random
import signal
import time

import pytest

from cli.console import Console, Live, wait_until
from evals.specs import Nobody, evaluated, results, written
from manyhands.errors import Conflict
from manyhands.evals.figures import compare

KILLS = 20 if os.environ.get("MANYHANDS_SOAK") else 2
#: Sums all that the sessions wrote: what was written twice would be counted twice.
SCORERS = """
[[scorer]]
name = "total"
type = "tests"
run = ["sh", "-c", "echo \\"$(( $(paste -sd+ answer.txt) )) passed, 100 failed in 1s\\"; exit 1"]
[[scorer]]
name = "lines"
type = "regex"
file = "log.txt"
pattern = "\\\\Abegun\\\\nended\\\\nbegun\\\\nended\\\\n\\\\Z"
"""


def kill_when_under_way(live: Live, console: Console, draw: random.Random) -> bool:
    """Whether it was killed in the midst of it."""
    wait_until(lambda: " of " in live.err or live.process.poll() is not None, "a session that ended")
    time.sleep(draw.uniform(0.0, 0.5))
    alive = live.process.poll() is None
    if alive:
        os.kill(live.process.pid, signal.SIGKILL)
    live.process.wait()
    return alive


@pytest.mark.slow
async def test_an_eval_killed_over_and_over_finds_what_an_undisturbed_one_finds(console: Console) -> None:
    draw = random.Random(5)
    cases, replications = (3, 8) if KILLS > 2 else (2, 2)
    written(console, nap=0.2, cases=cases, replications=replications, sessions=2, seed=9, scorers=SCORERS)
    kills = 0
    while kills < KILLS:
        live = console.start("eval", "spec.toml", "--concurrency", "4")
        if not kill_when_under_way(live, console, draw):
            break
        kills += 1
    assert kills == KILLS
    nobody = Nobody()
    disturbed = await evaluated(console, nobody=nobody)
    assert 0 < len(nobody.said) < 4 * cases * replications
    assert disturbed.concurrency.n == 4
    elsewhere = Console(console.directory / "undisturbed")
    elsewhere.directory.mkdir()
    written(elsewhere, cases=cases, replications=replications, sessions=2, seed=9, scorers=SCORERS)
    undisturbed = await evaluated(elsewhere)
    assert results(disturbed) == results(undisturbed)
    assert compare(disturbed).lifts == compare(undisturbed).lifts
    assert sum(outcome.troubles.lost for outcome in disturbed.outcomes) >= 1
    again = sum(session.attempts - 1 for outcome in disturbed.outcomes for session in outcome.sessions)
    assert again <= 4 * KILLS  # only what had not ended: at most what was in flight each time
    assert {outcome.scores["lines"] for outcome in disturbed.outcomes} == {1.0}


async def test_an_eval_goes_on_only_as_it_was_begun(console: Console) -> None:
    written(console, nap=1.0, cases=1, replications=1)
    live = console.start("eval", "spec.toml")
    live.wait_until(lambda: (console.store / "evals" / "e-1" / "trials").exists(), "a trial")
    live.interrupt()
    assert live.end().code == 75
    with pytest.raises(Conflict, match="was begun with concurrency 1"):
        await evaluated(console, concurrency=2)
    written(console, cases=1, replications=1)
    with pytest.raises(Conflict, match="the spec has changed"):
        await evaluated(console)
    assert (await evaluated(console, fresh=True)).id == "e-2"
