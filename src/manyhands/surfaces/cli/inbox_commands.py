"""`manyhands inbox`: its declarations."""

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def inbox(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List what waits for a person, the most blocking first. Each item has the command that answers it."""
    from manyhands.surfaces.cli.inbox_listing import list_inbox

    list_inbox(output, settings)


noun = Noun(inbox)
