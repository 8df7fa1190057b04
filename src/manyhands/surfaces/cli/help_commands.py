"""`manyhands help`: its declaration."""

from collections.abc import Sequence
from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun


def help(
    topic: Annotated[Sequence[str], Argument("TOPIC", help="A command, such as `task log`, or a topic.")] = (),
) -> int:
    """Explain a command or a topic. Alone, it lists both."""
    from manyhands.surfaces.cli.help_showing import show_help

    return show_help(topic)


noun = Noun(help)
