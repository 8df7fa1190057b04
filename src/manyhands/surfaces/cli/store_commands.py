"""`manyhands store`: its declarations."""

from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

noun = Noun(
    text="Check a journal, save what can be read of a damaged one, or copy one between a directory and PostgreSQL."
)


@noun.verb("copy")
def store_copy(
    source: Annotated[str, Argument("FROM", help="A directory, or a postgresql URL.")],
    target: Annotated[str, Argument("TO", help="A directory or a postgresql URL without a journal.")],
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Copy a journal to another store and verify the copy. No dispatcher may be working on either store."""
    from manyhands.surfaces.cli.store_copy import copy_store

    copy_store(source, target, output)


@noun.verb("check")
def store_check(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """Read the whole journal and say whether it is complete and sound. Nothing is changed."""
    from manyhands.surfaces.cli.store_repair import check_store

    check_store(output, settings)


@noun.verb("repair")
def store_repair(
    settings: Settings,
    to: Annotated[Path, Option("--to", metavar="DIR", help="The directory of the new store.")],
    output: OutputOption = OutputFormat.TABLE,
) -> None:
    """Save what can be read of a damaged journal to a new store. The damaged journal is not changed."""
    from manyhands.surfaces.cli.store_repair import repair_store

    repair_store(to, output, settings)
