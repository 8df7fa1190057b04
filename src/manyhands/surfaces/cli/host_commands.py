"""`manyhands host`: its declarations. The bodies are in `hosts.py` and `host_requests.py`, loaded when wanted."""

from typing import Annotated

import typer

from manyhands.surfaces.cli.options import ConfigOption, HostsOption, OutputOption, StoreOption
from manyhands.surfaces.cli.printing import OutputFormat

app = typer.Typer(help="The hosts: list them, pause one, or set its width.", rich_markup_mode=None)

HostArgument = Annotated[str, typer.Argument(metavar="HOST")]


@app.callback(invoke_without_command=True)
def hosts(
    context: typer.Context,
    output: OutputOption = OutputFormat.TABLE,
    hosts: HostsOption = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """List the hosts: what they take, how wide they are and why."""
    if context.invoked_subcommand is None:
        from manyhands.surfaces.cli.host_listing import list_hosts

        list_hosts(output, config, hosts, store)


@app.command("pause")
def host_pause(
    host: HostArgument,
    why: Annotated[str, typer.Option(help="for those who wonder")] = "",
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Start nothing more there until `host resume`; what is in flight settles."""
    from manyhands.surfaces.cli.host_requests import pause

    pause(host, why, config, store)


@app.command("resume")
def host_resume(host: HostArgument, config: ConfigOption = None, store: StoreOption = None) -> None:
    """Let a paused host take tasks again."""
    from manyhands.surfaces.cli.host_requests import resume

    resume(host, config, store)


@app.command("width")
def host_width(
    host: HostArgument,
    width: Annotated[
        int | None, typer.Argument(min=1, metavar="[WIDTH]", help="left out: the clutch decides again")
    ] = None,
    config: ConfigOption = None,
    store: StoreOption = None,
) -> None:
    """Pin the width of a host, or free it again."""
    from manyhands.surfaces.cli.host_requests import set_width

    set_width(host, width, config, store)
