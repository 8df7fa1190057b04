"""`manyhands store`: its declarations."""

from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat

noun = Noun(text="Copy a journal between a directory and PostgreSQL.")


@noun.verb("copy")
def store_copy(
    source: Annotated[str, Argument("FROM", help="A directory, or a postgresql URL.")],
    target: Annotated[str, Argument("TO", help="A directory or a postgresql URL without a journal.")],
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Copy a journal to another store and verify the copy. No dispatcher may be working on either store."""
    from manyhands.surfaces.cli.store_copy import copy_store

    copy_store(source, target, output)
