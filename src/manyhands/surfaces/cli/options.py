"""The options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated

import typer

from manyhands.surfaces.cli.printing import OutputFormat

OutputOption = Annotated[
    OutputFormat, typer.Option("--output", "-o", help="table for people, json or ids for programs")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="the manyhands.toml to use instead of the one found by walking up")
]
HostsOption = Annotated[Path | None, typer.Option("--hosts", help="a file with the [hosts.…] to use")]
StoreOption = Annotated[
    str | None, typer.Option("--store", help="the journal: a directory (default .manyhands) or postgresql://…")
]
RunOption = Annotated[str | None, typer.Option("--run", help="of this run instead of the newest")]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="ask a dispatcher over HTTP, with the token of its store or MANYHANDS_TOKEN")
]
TaskArgument = Annotated[str, typer.Argument(metavar="TASK")]
