"""The commands of the tutorial, in its order, in a repository: each prints what the page shows, but for numbers."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from apps.setup.test_first_five_minutes import python
from surfaces.cli.console import Console

PAGE = (Path(__file__).parents[3] / "docs" / "tutorial.md").read_text()
#: They follow the machine and the order in which two attempts end, not the page.
_OF_THE_MACHINE = ("ok    versions", "ok    clock", "ok    disk", "ok    port", "TASK ", "ORDER ")


def steps() -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a console block with the lines below it."""
    for block in re.findall(r"^```console\n\$ (.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for step in block.split("\n$ "):
            command, *lines = step.strip("\n").split("\n")
            yield shlex.split(command), lines


def without_numbers(line: str) -> str:
    line = re.sub(r"\b[0-9a-f]{10}\b|\d+(\.\d+)?(ms|s|m|h)?\b", "N", line)
    return " ".join(re.sub(r"N( N)+", "N", line).split())


def test_every_command_of_the_tutorial_prints_what_the_page_shows(
    with_claude: Console, git: Callable[..., str]
) -> None:
    console = with_claude
    python(console.directory)
    git("init", "-q", "-b", "master")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    for name, text in re.findall(r"^```toml\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        console.write(name, text)
    seen = 0
    for command, lines in steps():
        if command[0] == "git":
            printed = git(*command[1:])
        else:
            done = console.run(*command[1:])
            assert done.code == 0, f"{command}\n{done.out}{done.err}"
            printed = done.out + done.err
        there = {without_numbers(line) for line in printed.splitlines()}
        wanted = [line for line in lines if not line.startswith(_OF_THE_MACHINE)]
        assert [line for line in wanted if without_numbers(line) not in there] == [], f"{command}\n{printed}"
        seen += len(wanted)
    assert seen > 25
    assert len(git("log", "--format=%s").splitlines()) == 5
