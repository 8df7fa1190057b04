"""`manyhands handoff`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.settings import Settings


def handoff(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
) -> None:
    """Print what the next person or agent must know of a run, in at most 2,000 words of Markdown."""
    from manyhands.surfaces.cli.handoff import print_handoff

    print_handoff(run, settings)


noun = Noun(handoff)
