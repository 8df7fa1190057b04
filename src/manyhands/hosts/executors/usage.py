"""What a command says that it has used: agents know their tokens and their bill, and nobody else does."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.core.values.ending import Ending

USAGE_FILE = "usage.json"
_BYTES_MAX = 2**20
#: What every reader of a journal, a page among them, takes as a number.
NUMBER_MAX = 2**53
_Count = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
_Money = Annotated[float, Meta(ge=0, le=NUMBER_MAX)]


class Usage(Struct, frozen=True):
    """None: unknown. Other fields are passed over: what an agent reports has many."""

    tokens_in: _Count | None = None
    tokens_out: _Count | None = None
    cost: _Money | None = None


def with_usage(ending: Ending, directory: Path, log: Path) -> Ending:
    """The ending with what the command wrote of it; what cannot be read is said in the attempt's output."""
    file = directory / USAGE_FILE
    try:
        if not file.is_file():
            return ending
        with open(file, "rb") as content:
            said = content.read(_BYTES_MAX + 1)
        if len(said) > _BYTES_MAX:
            raise ValueError(f"it has more than {_BYTES_MAX:,} bytes")
        usage = msgspec.json.decode(said, type=Usage)
    except (OSError, ValueError, RecursionError) as error:  # nothing of this may cost the attempt its ending
        with suppress(OSError), open(log, "ab") as output:
            output.write(f"manyhands: {USAGE_FILE} is left out of account: {error}\n".encode())
        return ending
    return msgspec.structs.replace(
        ending, tokens_in=usage.tokens_in or 0, tokens_out=usage.tokens_out or 0, cost=usage.cost
    )
