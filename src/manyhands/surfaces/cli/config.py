"""`manyhands config`: shows every setting in force and where it comes from, and the schema of the file."""

import msgspec

from manyhands.sources.config.config_schema import config_schema
from manyhands.surfaces.cli.printing import OutputFormat, print_json, print_rows
from manyhands.surfaces.cli.settings import Settings


def print_config(output: OutputFormat, settings: Settings) -> None:
    config = settings.load()
    rows = [
        {"setting": each.name, "value": msgspec.to_builtins(each.value), "from": each.origin}
        for each in config.settings
    ]
    print_rows(rows, output, "setting")


def print_schema() -> None:
    print_json(config_schema())
