"""`manyhands backlog`: its declarations."""

from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

noun = Noun(text="Look into Beads backlogs.")


@noun.verb("ready")
def backlog_ready(
    settings: Settings,
    directory: Annotated[
        Path, Argument("DIR", help="A project, its .beads directory, or the file; the current directory if left out.")
    ] = Path(),
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """List the tasks that may run now. Epics are left out."""
    from manyhands.surfaces.cli.backlog_listing import print_ready

    print_ready(directory, output, settings)
