"""`manyhands demo`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def demo(
    settings: Settings,
    scale: Annotated[
        float, Option(help="Multiply the length of the tasks. With 1.0 they take 30, 20 and 40 seconds.")
    ] = 0.1,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Run 30 mixed tasks on three hosts, then the same tasks one at a time per kind.

    On a terminal its page stays up until you press Ctrl-C. Without a terminal, or with --output json, it ends by
    itself.
    """
    from manyhands.surfaces.cli.demo import run_demo

    return run_demo(scale, output, settings)


noun = Noun(demo)
