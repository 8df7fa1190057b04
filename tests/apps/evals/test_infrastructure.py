"""What is not the arm's doing is tried again, counted, and never scored as the arm's failure."""

import asyncio
from pathlib import Path

import pytest

from apps.evals.specs import Nobody, evaluated
from manyhands.apps.evals import listening
from surfaces.cli.console import PATIENCE_S, Console

#: Overloaded as often as the file beside it says, and then answers.
AGENT = """
import pathlib

def answer(context, overloads):
    seen = pathlib.Path(__file__).with_name(f"seen-{context.run}")
    count = len(seen.read_text()) if seen.exists() else 0
    pathlib.Path("left.txt").open("a").write("x")
    if count < overloads:
        seen.open("a").write("x")
        raise MemoryError("no room")
    return pathlib.Path("left.txt").read_text()
"""
SPEC = """
[eval]
name = "e"
replications = 1
[[arm]]
name = "a"
call = "overloaded_agent:answer"
args = { overloads = 0 }
[[arm]]
name = "b"
call = "overloaded_agent:answer"
args = { overloads = 2 }
[[case]]
name = "c"
prompt = "p"
[[scorer]]
name = "once"
type = "regex"
pattern = '^"x"$'
"""


async def test_an_overload_is_tried_again_on_a_fresh_workspace_and_counted(console: Console) -> None:
    console.write("overloaded_agent.py", AGENT)
    console.write("spec.toml", SPEC)
    a, b = (await evaluated(console, concurrency=2)).outcomes
    assert (a.state, a.scores, a.troubles.total) == ("scored", {"once": 1.0}, 0)
    assert (b.state, b.scores) == ("scored", {"once": 1.0})
    assert (b.troubles.overloaded, b.sessions[0].attempts) == (2, 3)


#: A command that says that it was refused, in one of two ways, and then answers badly: if that is scored, it is 0.
REFUSED = """
[eval]
name = "e"
replications = 1
[[arm]]
name = "later"
run = ["sh", "-c", '[ -e "$MH_SEEN/later" ] && echo x && exit; touch "$MH_SEEN/later"; echo bad; exit 75']
[[arm]]
name = "closed"
run = ["sh", "-c", '''
[ -e "$MH_SEEN/closed" ] && echo x && exit
touch "$MH_SEEN/closed"; echo bad
echo '{"quota": true, "retry_after": 0.2}' > "$MANYHANDS_ENDING_FILE"
''']
[[case]]
name = "c"
prompt = "p"
[[scorer]]
name = "right"
type = "regex"
pattern = "^x$"
"""


async def test_a_command_that_says_that_it_was_refused_is_not_scored(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MH_SEEN", str(tmp_path))
    console.write("spec.toml", REFUSED)
    outcomes = {one.arm: one for one in (await evaluated(console, concurrency=2)).outcomes}
    for outcome in outcomes.values():
        assert (outcome.state, outcome.scores) == ("scored", {"right": 1.0}), outcome
        assert (outcome.troubles.total, outcome.sessions[0].attempts) == (1, 2)


async def test_a_host_that_takes_nothing_is_not_waited_for_for_ever(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    console.write("dead_agent.py", AGENT)  # a name of its own: this process has imported the other one
    console.write("spec.toml", SPEC.replace("overloads = 0", "overloads = 99").replace("overloaded_", "dead_"))
    console.write("manyhands.toml", '[hosts.one]\ntype = "python"\nwidth = 1\n')
    nobody = Nobody()
    with monkeypatch.context() as patched:
        patched.setattr(listening, "TRIALS_MAX", 1)  # as it is, that takes minutes
        record = await evaluated(console, nobody=nobody)
    assert record.state == "stopped"  # the same command continues once the host works again
    assert any("host one did not accept work" in warning for warning in record.warnings)
    assert any("no longer waits for it" in line for line in nobody.said)
    assert sum(outcome.troubles.overloaded for outcome in record.outcomes) >= 5
    assert {outcome.state for outcome in record.outcomes} == {"missing"}
    console.write("dead_agent.py", AGENT.replace("count < overloads", "False"))
    repaired = await asyncio.wait_for(evaluated(console), PATIENCE_S)
    assert {outcome.state for outcome in repaired.outcomes} == {"scored"}
