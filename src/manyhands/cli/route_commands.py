"""`manyhands route`: its declarations. The bodies are in `routes.py`, loaded when wanted."""

from typing import Annotated

import typer

from manyhands.cli.options import ConfigOption, OutputOption, StoreOption
from manyhands.cli.output import Output

app = typer.Typer(help="Where results are delivered, and those that could not be.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def routes(
    context: typer.Context,
    output: OutputOption = Output.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the routes: their sinks, what waits to be delivered, and what was given up."""
    if context.invoked_subcommand is None:
        from manyhands.cli.routes import list_routes

        list_routes(output, config, store)


@app.command("dead")
def route_dead(
    route: Annotated[str | None, typer.Option("--app", help="of this app")] = None,
    output: OutputOption = Output.TABLE,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the results that a sink did not take, and why."""
    from manyhands.cli.routes import list_dead

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
    from manyhands.cli.routes import resend

    resend(letters or [], route, everything, config, store)
