"""`manyhands do`: its declaration."""

from typing import Annotated

from manyhands.surfaces.cli.do_options import DoOptions
from manyhands.surfaces.cli.options import EXIT_CODES, OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


def do(
    sentence: Annotated[str, Argument("SENTENCE", help='What to do, such as "Add type hints to src/".')],
    options: DoOptions,
    settings: Settings,
    output: OutputOption = OutputFormat.TABLE,
) -> int:
    """Carry out a sentence without a plan file.

    An agent works on it in a git worktree. When the check passes, its commit lands on your branch. The same command
    continues what was stopped.
    """
    from manyhands.surfaces.cli.do import carry_out

    return carry_out(sentence, options, output, settings)


noun = Noun(do, epilog=EXIT_CODES)
