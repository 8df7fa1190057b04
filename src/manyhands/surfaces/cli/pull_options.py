"""What an agent may say of what it has used."""

from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Option


class UsedOptions(NamedTuple):
    tokens_in: Annotated[int, Option(min=0, help="Tokens read for this task so far.")] = 0
    tokens_out: Annotated[int, Option(min=0, help="Tokens written for this task so far.")] = 0
    cost: Annotated[float | None, Option(help="What it has cost so far.")] = None
