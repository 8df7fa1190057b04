"""`manyhands config`: every setting in force and where it comes from; and the schema of the file."""

from pathlib import Path

import msgspec

from manyhands.sources.config.config_schema import config_schema
from manyhands.surfaces.cli.printing import OutputFormat, print_json, print_rows
from manyhands.surfaces.cli.settings import load


def print_config(output: OutputFormat, config_path: Path | None, hosts_path: Path | None, store: str | None) -> None:
    config = load(config_path, hosts_path, store)
    rows = [
        {"setting": each.name, "value": msgspec.to_builtins(each.value), "from": each.origin}
        for each in config.settings
    ]
    print_rows(rows, output, "setting")


def print_schema() -> None:
    print_json(config_schema())
