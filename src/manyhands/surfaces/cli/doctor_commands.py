"""`manyhands doctor`: its declaration."""

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def doctor(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> int:
    """Say what is wrong here, each with its fix: config, keys, URLs, models, agents, git, disk, clock, versions.

    No tokens are spent. The exit code is 1 if anything is wrong.
    """
    from manyhands.surfaces.cli.doctor import examine

    return examine(output, settings)


noun = Noun(doctor)
