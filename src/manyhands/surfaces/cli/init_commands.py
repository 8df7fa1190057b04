"""`manyhands init`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Noun, Option


def init(
    yes: Annotated[bool, Option("--yes", "-y", help="Ask nothing, and write what was found.")] = False,
) -> int:
    """Write a first manyhands.toml and a first plan for this directory.

    It looks for git, tests, a Beads backlog, agents, model servers on this machine, and GPUs. It never overwrites a
    file.
    """
    from manyhands.surfaces.cli.init import begin

    return begin(yes)


noun = Noun(init)
