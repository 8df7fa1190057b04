"""`manyhands plan`: its declarations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

noun = Noun(text="Check plan files, or print their schema.")


@noun.verb("check")
def plan_check(
    plans: Annotated[Sequence[Path], Argument("PLAN", help="A plan file: .toml, .yaml or .jsonl.")],
    settings: Settings,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Say everything that is wrong with a plan, or how large, deep and wide it is. This runs nothing."""
    from manyhands.surfaces.cli.plan_check import check_plans

    return check_plans(plans, output, settings)


@noun.verb("schema")
def plan_schema() -> None:
    """Print the JSON Schema of plan files."""
    from manyhands.surfaces.cli.plan_check import print_schema

    print_schema()
