"""`manyhands route`: its declarations. The bodies are in `routes.py`, loaded when wanted."""

from typing import Annotated

import typer

from manyhands.surfaces.cli.options import ConfigOption, OutputOption, StoreOption
from manyhands.surfaces.cli.printing import OutputFormat

app = typer.Typer(help="Where results are delivered, and those that could not be.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def routes(
    context: typer.Context,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the routes: their sinks, what waits to be delivered, and what was given up."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.route_listing import list_routes

        list_routes(output, config, store)


@app.command("dead")
def route_dead(
    route: Annotated[str | None, typer.Option("--app", help="of this app")] = None,
    output: OutputOption = OutputFormat.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the results that a sink did not take, and why."""
    from manyhands.surfaces.cli.route_listing import list_dead

    list_dead(route, output, config, store)


@app.command("resend")
def route_resend(
    letters: Annotated[
        list[int] | None, typer.Argument(metavar="[LETTER]…", help="as `route dead` numbers them")
    ] = None,
    route: Annotated[str | None, typer.Option("--app", help="all of this app")] = None,
    everything: Annotated[bool, typer.Option("--all", help="all of them")] = False,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Send again what was given up, under the same key."""
    from manyhands.surfaces.cli.route_listing import resend

    resend(letters or [], route, everything, config, store)
