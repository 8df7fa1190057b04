"""`manyhands lane`: its declaration."""

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def lane(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List the lanes: the attempts of one kind on one host."""
    from manyhands.surfaces.cli.host_listing import list_lanes

    list_lanes(output, settings)


noun = Noun(lane)
