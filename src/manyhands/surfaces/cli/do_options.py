"""What `manyhands do` may say beside the prompt."""

from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Option


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
