"""`manyhands review`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import ReviewOutput
from manyhands.surfaces.cli.settings import Settings


def review(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    output: Annotated[
        ReviewOutput,
        Option("--output", "-o", help="How to print it: markdown to read, json for programs, or one html page."),
    ] = ReviewOutput.MARKDOWN,
) -> None:
    """Tell a run's story from its journal: goal, outcome, next steps, key decisions, open questions."""
    from manyhands.surfaces.cli.review import review_run

    review_run(run, output, settings)


noun = Noun(review)
