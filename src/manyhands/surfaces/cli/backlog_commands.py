"""`manyhands backlog`: its declarations."""

from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

noun = Noun(text="Look into backlogs of issues: Beads, GitHub, Markdown.")


@noun.verb("ready")
def backlog_ready(
    settings: Settings,
    directory: Annotated[
        Path, Argument("DIR", help="A project, its .beads directory, or the file; the current directory if left out.")
    ] = Path(),
    github: Annotated[
        str | None, Option(metavar="OWNER/REPO", help="Look at the issues of this repository instead.")
    ] = None,
    label: Annotated[str, Option(help="The label that makes an issue of `--github` a task.")] = "agent",
    markdown: Annotated[
        Path | None, Option(metavar="DIR", help="Look at this directory of Markdown files instead.")
    ] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """List the tasks that may run now. Epics are left out."""
    from manyhands.surfaces.cli.backlog_listing import print_ready

    print_ready(directory, output, settings, github, label, markdown)
