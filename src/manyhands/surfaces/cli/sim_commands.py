"""`manyhands sim`: its declaration."""

from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat


def sim(
    scenario: Annotated[Path, Argument("SCENARIO", help="A .toml file such as examples/two-hosts.toml.")],
    tasks: Annotated[int | None, Option(min=1, help="Simulate this many tasks instead of those in the file.")] = None,
    journal: Annotated[
        Path | None, Option(metavar="DIR", help="Write the journal to this directory, for the other commands to read.")
    ] = None,
    page: Annotated[Path | None, Option(help="Write a page that replays the run to this .html file.")] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Predict what would happen to a backlog on given hosts. The scheduler is the real one, the time is virtual."""
    from manyhands.surfaces.cli.sim import simulate

    return simulate(scenario, tasks, journal, page, output)


noun = Noun(sim)
