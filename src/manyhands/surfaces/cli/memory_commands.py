"""`manyhands memory`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def memory(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show what is remembered of each kind on each host: success, durations, good widths."""
    from manyhands.surfaces.cli.memory_listing import list_memory

    list_memory(output, settings)


noun = Noun(memory)


@noun.verb("forget")
def memory_forget(
    settings: Settings,
    host: Annotated[str | None, Option(help="Forget what was learned on this host.")] = None,
    kind: Annotated[str | None, Option(help="Forget what was learned about this kind.")] = None,
    everything: Annotated[bool, Option("--all", help="Forget everything.")] = False,
) -> None:
    """Forget what was learned. The next run learns it anew."""
    from manyhands.surfaces.cli.memory_listing import forget

    forget(host, kind, everything, settings)
