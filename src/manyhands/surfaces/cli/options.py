"""The options that several commands share, declared once."""

from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Option
from manyhands.surfaces.cli.printing import OutputFormat

EXIT_CODES = (
    "Exit codes: 0: everything is done. 1: at least one task did not succeed. 2: the usage or the input is wrong, "
    "and nothing was done. 75: stopped, busy or not available now; try the same command again."
)

OutputOption = Annotated[
    OutputFormat,
    Option("--output", "-o", help="How to print the answer: a table for people, json or ids for programs."),
]
RunOption = Annotated[str | None, Option("--run", metavar="RUN", help="Look in this run instead of the newest one.")]
UrlOption = Annotated[
    str | None,
    Option(
        "--url",
        metavar="URL",
        help="Ask the dispatcher at this address over HTTP. The token comes from MANYHANDS_TOKEN or from the store.",
    ),
]
TaskArgument = Annotated[str, Argument("TASK", help="The id of the task.")]
