"""`manyhands host`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

HostArgument = Annotated[str, Argument("HOST", help="The name of the host.")]


def host(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List the hosts: what they take, how wide they are and why."""
    from manyhands.surfaces.cli.host_listing import list_hosts

    list_hosts(output, settings)


noun = Noun(host)


@noun.verb("check")
def host_check(
    settings: Settings,
    host: Annotated[str | None, Argument("HOST", help="Check this host alone.")] = None,
) -> None:
    """Start each agent program once, without spending tokens, and say what is missing."""
    from manyhands.surfaces.cli.host_checking import check_hosts

    check_hosts(host, settings)


@noun.verb("pause")
def host_pause(
    host: HostArgument,
    settings: Settings,
    why: Annotated[str, Option(help="The reason, for people who wonder later.")] = "",
) -> None:
    """Start nothing more on a host until `host resume`. Running attempts finish."""
    from manyhands.surfaces.cli.host_requests import pause

    pause(host, why, settings)


@noun.verb("resume")
def host_resume(host: HostArgument, settings: Settings) -> None:
    """Let a paused host take tasks again."""
    from manyhands.surfaces.cli.host_requests import resume

    resume(host, settings)


@noun.verb("width")
def host_width(
    host: HostArgument,
    settings: Settings,
    width: Annotated[
        int | None, Argument("WIDTH", help="How many attempts at once. If left out, the clutch decides again.", min=1)
    ] = None,
) -> None:
    """Pin the width of a host, or let the clutch decide again."""
    from manyhands.surfaces.cli.host_requests import set_width

    set_width(host, width, settings)
