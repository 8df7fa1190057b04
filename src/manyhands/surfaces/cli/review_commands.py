"""`manyhands review`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import ReviewOutput
from manyhands.surfaces.cli.settings import Settings


def review(
    settings: Settings,
    run: Annotated[str | None, Argument("RUN", help="The name of the run; the newest if left out.")] = None,
    epic: Annotated[str, Option("--epic", help="Tell only of the tasks below this parent.", metavar="ID")] = "",
    since: Annotated[
        str | None,
        Option(
            "--since", help="Tell of all runs since then, one after another: `7d`, `12h` or a date.", metavar="WHEN"
        ),
    ] = None,
    until: Annotated[
        str | None, Option("--until", help="The end of that period, if it is not now.", metavar="WHEN")
    ] = None,
    output: Annotated[
        ReviewOutput,
        Option("--output", "-o", help="How to print it: markdown to read, json for programs, or one html page."),
    ] = ReviewOutput.MARKDOWN,
) -> None:
    """Tell the story of a run, an epic or a period: goal, outcome, next steps, key decisions, open questions."""
    from manyhands.surfaces.cli.review import print_review

    print_review(run, epic, since, until, output, settings)


noun = Noun(review)
