"""`manyhands config`: its declarations."""

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def config(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """Show every setting in force, and where it comes from."""
    from manyhands.surfaces.cli.config import print_config

    print_config(output, settings)


noun = Noun(config)


@noun.verb("schema")
def config_schema() -> None:
    """Print the JSON Schema of manyhands.toml."""
    from manyhands.surfaces.cli.config import print_schema

    print_schema()
