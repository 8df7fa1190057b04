"""`manyhands split`: its declaration."""

from manyhands.surfaces.cli.parsing.declarations import Noun
from manyhands.surfaces.cli.settings import Settings
from manyhands.surfaces.cli.split_options import SplitOptions


def split(options: SplitOptions, settings: Settings) -> None:
    """Split a code base into a tree of subplans, and write a plan for them.

    The files of a subplan tend to change together, and fit into a budget of tokens.
    """
    from manyhands.surfaces.cli.split import split_code_base

    split_code_base(options, settings)


noun = Noun(split)
