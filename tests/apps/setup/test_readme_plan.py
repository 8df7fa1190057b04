"""The plan and the hosts that the README shows, run as they are written there, with a stand-in for the agent."""

import re
from collections.abc import Callable
from pathlib import Path

from surfaces.cli.console import Console

README = (Path(__file__).parents[3] / "README.md").read_text()


def shown_below(heading: str) -> str:
    """The first example in TOML below that heading."""
    found = re.search(r"^```toml\n(.*?)^```", README.partition(f"\n## {heading}\n")[2], re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_plan_of_the_readme_runs_on_the_hosts_of_the_readme(with_claude: Console, git: Callable[..., str]) -> None:
    console = with_claude
    console.config(shown_below("Hosts"))
    console.write("plan.toml", shown_below("A plan"))
    console.write("Makefile", "schema:\n\ttrue\n")
    (console.directory / "tests" / "auth").mkdir(parents=True)
    console.write("tests/auth/test_keys.py", "def test_keys() -> None:\n    assert True\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    done = console.run("run", "plan.toml")
    assert done.code == 0, done.out + done.err
    assert git("log", "--format=%s").splitlines() == ["auth-1: Rotate session keys", "first"]
