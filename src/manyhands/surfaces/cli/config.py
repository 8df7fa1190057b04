"""`manyhands config`: shows every setting in force and where it comes from."""

import msgspec

from manyhands.surfaces.cli.printing import OutputFormat, print_rows
from manyhands.surfaces.cli.settings import Settings


def print_config(output: OutputFormat, settings: Settings) -> None:
    config = settings.load()
    rows = [
        {"setting": each.name, "value": msgspec.to_builtins(each.value), "from": each.origin}
        for each in config.settings
    ]
    print_rows(rows, output, "setting")
