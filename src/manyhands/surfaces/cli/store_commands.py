"""The declarations of `manyhands store …`."""

from typing import Annotated

import typer

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.printing import OutputFormat

app = typer.Typer(
    help="Where the journal is: in a directory, or in PostgreSQL.", rich_markup_mode=None, no_args_is_help=True
)


@app.callback()
def store() -> None:
    """Where the journal is: in a directory, or in PostgreSQL."""


@app.command("copy")
def store_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="a directory, or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="TO", help="the same; there must be no journal there")],
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Copy a journal to another store and verify the copy. No dispatcher may be at work on either."""
    from manyhands.surfaces.cli.store_copy import copy_store

    copy_store(source, target, output)
