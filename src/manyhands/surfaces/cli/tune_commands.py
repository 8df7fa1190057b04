"""`manyhands tune`: its declaration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import EXIT_CODES, OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def tune(
    host: Annotated[str, Argument("HOST", help="The name of the host.")],
    plans: Annotated[
        Sequence[Path],
        Argument(
            "PLAN",
            help="A plan file. Those of its tasks that HOST takes run over and over, so they must be harmless.",
        ),
    ],
    settings: Settings,
    up_to: Annotated[int, Option(min=1, help="The widest width to try.")] = 64,
    write: Annotated[bool, Option("--write", help="Write the width that was found to manyhands.toml.")] = False,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Measure the width a host can bear, with real tasks.

    The width grows until the host is overloaded or until more width brings no more throughput. Ctrl-C ends the
    measurement with what is known by then.
    """
    from manyhands.surfaces.cli.tune import tune_host

    return tune_host(host, plans, up_to, write, output, settings)


noun = Noun(tune, epilog=EXIT_CODES)
