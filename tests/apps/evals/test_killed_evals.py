"""An eval killed with -9 at random instants continues where it was, and finds what an undisturbed one finds.

Method: agents append to files, so that one that was begun anew on what a killed one left would show in its score.
"""

import os
import random
import signal

import msgspec
import pytest

from apps.evals.specs import Nobody, evaluated, let_go, results, waits_held, written
from journal_kills import last_event, wait_for_event
from manyhands.apps.evals.figures import compare
from manyhands.apps.evals.figures.figure_values import Lift
from manyhands.apps.evals.spec.eval_types import EvalRecord
from manyhands.errors import Conflict
from surfaces.cli.console import Console

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


def figures(record: EvalRecord) -> list[Lift]:
    """Without the mark that one arm lost more attempts than the other, which is right where it is."""
    return [msgspec.structs.replace(lift, trouble_differs=False) for lift in compare(record).lifts]


#: What any life brings: four sessions that were in flight are lost, and four start and are spawned.
EVENTS_OF_A_LIFE = 12


def kill_when_under_way(console: Console, draw: random.Random, held: int = 0) -> None:
    """At a random event. With `held`, only when an agent of that replication waits, so that one is in flight."""
    waits_held(console, held).unlink(missing_ok=True)
    number = last_event(console.store) + draw.randrange(EVENTS_OF_A_LIFE)
    live = console.start("eval", "spec.toml", "--concurrency", "4")
    live.wait_until(lambda: " of " in live.err, "a session that ended, in this process or before")
    assert wait_for_event(live.process, console.store, number)
    if held:
        live.wait_until(waits_held(console, held).exists, "an agent that is held")
    assert live.process.poll() is None
    live.process.send_signal(signal.SIGKILL)
    live.process.wait()


@pytest.mark.slow
async def test_an_eval_killed_over_and_over_finds_what_an_undisturbed_one_finds(console: Console) -> None:
    draw = random.Random(5)
    cases, replications = (3, 8) if KILLS > 2 else (2, 2)
    plan = {"cases": cases, "replications": replications, "sessions": 2, "seed": 9, "scorers": SCORERS}
    written(console, nap=0.2, held=True, **plan)
    let_go(console, *range(1, replications))  # the last one waits: it cannot be over before it has been killed
    for _ in range(KILLS - 1):
        kill_when_under_way(console, draw)
    kill_when_under_way(console, draw, held=replications)
    let_go(console, replications)
    nobody = Nobody()
    disturbed = await evaluated(console, nobody=nobody)
    assert 0 < len(nobody.said) < 4 * cases * replications
    assert disturbed.concurrency.n == 4
    elsewhere = Console(console.directory / "undisturbed")
    elsewhere.directory.mkdir()
    written(elsewhere, **plan)
    undisturbed = await evaluated(elsewhere)
    assert results(disturbed) == results(undisturbed)
    assert figures(disturbed) == figures(undisturbed)
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
