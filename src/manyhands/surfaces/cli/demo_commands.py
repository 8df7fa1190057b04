"""`manyhands demo`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def demo(
    settings: Settings,
    mix: Annotated[
        bool,
        Option("--mix", help="Run 30 mixed tasks on three hosts instead, then the same tasks one at a time per kind."),
    ] = False,
    scale: Annotated[
        float | None,
        Option(
            help="Multiply how long everything takes. The default is 1.0, about half a minute; of the mix 0.1, where "
            "1.0 has tasks of 30, 20 and 40 seconds."
        ),
    ] = None,
    page: Annotated[bool, Option("--page/--no-page", help="Serve the page of the demo while it runs.")] = True,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Show what manyhands does, in about half a minute, without a network and without cost.

    Programs that stand in for agents and a model work on a small git repository in a temporary directory. The
    directory stays, so that you can look around in it. On a terminal the page stays up until you press a key.
    """
    from manyhands.surfaces.cli.demo import run_demo

    return run_demo(mix, scale, page, output, settings)


noun = Noun(demo)
