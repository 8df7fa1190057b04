"""`manyhands route`: its declarations."""

from collections.abc import Sequence
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def route(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List the routes: their sinks, the results that wait for delivery, and those that were given up."""
    from manyhands.surfaces.cli.route_listing import list_routes

    list_routes(output, settings)


noun = Noun(route)


@noun.verb("dead")
def route_dead(
    settings: Settings,
    app: Annotated[str | None, Option(help="Only those of this app.")] = None,
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """List the results that a sink did not accept, and why."""
    from manyhands.surfaces.cli.route_listing import list_dead

    list_dead(app, output, settings)


@noun.verb("resend")
def route_resend(
    settings: Settings,
    letters: Annotated[
        Sequence[int], Argument("LETTER", help="The number of a result, as `route dead` lists it.")
    ] = (),
    app: Annotated[str | None, Option(help="Send all results of this app again.")] = None,
    everything: Annotated[bool, Option("--all", help="Send all of them again.")] = False,
) -> None:
    """Send results again that were given up, under the same key."""
    from manyhands.surfaces.cli.route_listing import resend

    resend(letters, app, everything, settings)
