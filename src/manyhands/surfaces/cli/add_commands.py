"""`manyhands add`: its declaration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.add_options import NewTaskOptions
from manyhands.surfaces.cli.options import EXIT_CODES, OutputOption, UrlOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def add(
    task: NewTaskOptions,
    settings: Settings,
    files: Annotated[Sequence[Path], Argument("FILE", help="A plan file.")] = (),
    to: Annotated[str | None, Option("--to", metavar="RUN", help="Add to this run. The default is `added`.")] = None,
    output: OutputOption = OutputFormat.TABLE,
    url: UrlOption = None,
) -> None:
    """Add tasks from plan files, or one task from options.

    They go to the dispatcher that is running now, or else to the next one that starts.
    """
    from manyhands.surfaces.cli.add import add_tasks

    add_tasks(files, task, to, output, settings, url)


noun = Noun(add, epilog=EXIT_CODES)
