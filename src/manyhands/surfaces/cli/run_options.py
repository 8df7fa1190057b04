"""What `manyhands run` may say beside the plan."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Option


class RunOptions(NamedTuple):
    concurrency: Annotated[
        int | None, Option("--concurrency", "-j", help="Run at most this many attempts at once.")
    ] = None
    max_cost: Annotated[
        float | None, Option(help="Start nothing more once the attempts of this run have cost this much.")
    ] = None
    fail_fast: Annotated[bool, Option("--fail-fast", help="Cancel the waiting tasks when one task has failed.")] = False
    only: Annotated[
        Sequence[str],
        Option(
            metavar="GLOB",
            help="Run only the tasks whose ids match, and the tasks that they need. Can be given more than once.",
        ),
    ] = ()
    again: Annotated[bool, Option("--again", help="Run all of it again in a new run, also what is done.")] = False
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Start nothing. Say what would start, in which order and where, and what would not."),
    ] = False
    follow: Annotated[
        bool,
        Option(
            "--follow",
            help="Show the run on a web page too, and print its address. On a terminal it stays until a key.",
        ),
    ] = False
