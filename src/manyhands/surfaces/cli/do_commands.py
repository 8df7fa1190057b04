"""`manyhands do`: its declaration."""

from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.options import EXIT_CODES, OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings


class DoOptions(NamedTuple):
    split: Annotated[
        bool,
        Option(
            "--split",
            help="Split the code base, or the paths that the sentence names, and work on all parts at once.",
        ),
    ] = False
    check: Annotated[
        str | None,
        Option(metavar="COMMAND", help="What must pass for the work to count. The default is how the tests here run."),
    ] = None
    kind: Annotated[str, Option(help="The kind of the tasks, which decides the hosts that take them.")] = "code"
    again: Annotated[bool, Option("--again", help="Do it again, although it was done before.")] = False
    dry_run: Annotated[bool, Option("--dry-run", help="Start nothing. Say what would start and where.")] = False


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
