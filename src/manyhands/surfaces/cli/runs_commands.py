"""`manyhands runs`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
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
