"""`manyhands run`: its declaration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import EXIT_CODES, OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.run_options import RunOptions
from manyhands.surfaces.cli.settings import Settings


def run(
    plans: Annotated[Sequence[Path], Argument("PLAN", help="A plan file: .toml, .yaml or .jsonl.")],
    options: RunOptions,
    settings: Settings,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Run a plan to its end, or continue it.

    Tasks that are done stay done. Tasks that are new in the plan or were edited since run.

    Press Ctrl-C once: nothing new starts, and running attempts finish. Press it again to stop them too. The same
    command continues from there.
    """
    from manyhands.surfaces.cli.run import run_plans

    return run_plans(plans, options, output, settings)


noun = Noun(run, epilog=EXIT_CODES)
