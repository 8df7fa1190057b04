"""What may be asked of `manyhands eval`, declared once for its verbs."""

import enum
from typing import Annotated, NamedTuple

from manyhands.surfaces.cli.parsing.declarations import Argument, Option


class ReportOutput(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    HTML = "html"


EvalArgument = Annotated[str | None, Argument("EVAL", help="The id of the eval; the newest if left out.")]
ReportOption = Annotated[
    ReportOutput,
    Option("--output", "-o", help="How to print the report: a table for people, json for programs, or one html page."),
]


class EvalRunOptions(NamedTuple):
    concurrency: Annotated[
        str | None,
        Option(
            metavar="N|auto",
            help="Run at most this many sessions at once; auto finds a good number. The default is the spec's, or 1.",
        ),
    ] = None
    no_interleave: Annotated[
        bool, Option("--no-interleave", help="Run one arm after the other. The report says what that costs.")
    ] = False
    stop_when_decided: Annotated[
        bool,
        Option("--stop-when-decided", help="Run case by case, and stop when every comparison is decided."),
    ] = False
    fail_fast: Annotated[
        bool, Option("--fail-fast", help="Start nothing more when a session has failed. Finished trials are kept.")
    ] = False
    allow_tampering: Annotated[
        bool, Option("--allow-tampering", help="Allow `eval inject`, which taints the trials it reaches.")
    ] = False
    follow: Annotated[bool, Option("--follow", help="Serve a page that shows scores and intervals as they come.")] = (
        False
    )
    fresh: Annotated[
        bool, Option("--fresh", help="Begin a new eval, even if an earlier one of this spec is unfinished.")
    ] = False


class InjectOptions(NamedTuple):
    text: Annotated[str, Option("--text", help="The text to add to the prompt of every session that has not started.")]
    arm: Annotated[str, Option(help="Only for this arm.")] = ""
    case: Annotated[str, Option(help="Only for this case.")] = ""
    replication: Annotated[int, Option(min=0, help="Only for this replication; 0 is all of them.")] = 0
