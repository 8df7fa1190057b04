"""What a command says that it has used: agents know their tokens and their bill, and nobody else does."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.core.values.ending import Ending
from manyhands.hosts.executors.report_files import UnusableReport, note_unusable, read_report

USAGE_FILE = "usage.json"
#: What every reader of a journal, a page among them, takes as a number.
NUMBER_MAX = 2**53
UsageCount = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Money = Annotated[float, Meta(ge=0, le=NUMBER_MAX)]


class Usage(Struct, frozen=True):
    """None: unknown. Other fields are passed over: what an agent reports has many."""

    tokens_in: UsageCount | None = None
    tokens_out: UsageCount | None = None
    cost: Money | None = None


def with_usage(ending: Ending, directory: Path, log: Path) -> Ending:
    """The ending with what the command wrote of it; what cannot be read is said in the attempt's output."""
    try:
        said = read_report(directory / USAGE_FILE)
        if said is None:
            return ending
        usage = msgspec.json.decode(said, type=Usage)
    except (UnusableReport, ValueError, RecursionError) as error:  # nothing of this may cost the attempt its ending
        note_unusable(log, USAGE_FILE, error)
        return ending
    return msgspec.structs.replace(
        ending, tokens_in=usage.tokens_in or 0, tokens_out=usage.tokens_out or 0, cost=usage.cost
    )
