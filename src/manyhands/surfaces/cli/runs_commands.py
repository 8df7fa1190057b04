"""`manyhands runs`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import LogOutput, OutputFormat
from manyhands.surfaces.cli.settings import Settings


def runs(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List the runs of this store."""
    from manyhands.surfaces.cli.run_listing import list_runs

    list_runs(output, settings)


noun = Noun(runs)


@noun.verb("show")
def runs_show(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Show one run: its counts, its peaks, and the tasks that did not succeed."""
    from manyhands.surfaces.cli.run_listing import show_run

    show_run(run, output, settings)


@noun.verb("log")
def runs_log(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    follow: Annotated[bool, Option("--follow", help="Print what happens next too, until the run has ended.")] = False,
    output: Annotated[
        LogOutput,
        Option("--output", "-o", help="How to print events: lines for people, jsonl for programs."),
    ] = LogOutput.LINES,
) -> None:
    """Print every event of a run, one line each: where each lane began and why, starts, endings, and widths."""
    from manyhands.surfaces.cli.run_log_printing import print_log

    print_log(run, follow, output, settings)
