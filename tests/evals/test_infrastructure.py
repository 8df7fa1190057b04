"""What is not the arm's doing is tried again, counted, and never scored as the arm's failure."""

from cli.console import Console
from evals.specs import evaluated

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
