"""What a command says that it has used: agents know their tokens and their bill, and nobody else does."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.core.model import Ending

USAGE_FILE = "usage.json"
_BYTES_MAX = 65_536
#: What every reader of a journal, a page among them, takes as a number.
NUMBER_MAX = 2**53
_Count = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
_Money = Annotated[float, Meta(ge=0, le=NUMBER_MAX)]


class Usage(Struct, frozen=True):
    """Other fields are passed over: what an agent reports has many."""

    tokens_in: _Count = 0
    tokens_out: _Count = 0
    cost: _Money | None = None


def with_usage(ending: Ending, directory: Path, log: Path) -> Ending:
    """The ending with what the command wrote of it; what cannot be read is said in the attempt's output."""
    file = directory / USAGE_FILE
    if not file.is_file():
        return ending
    try:
        with open(file, "rb") as content:
            usage = msgspec.json.decode(content.read(_BYTES_MAX), type=Usage)
    except (OSError, msgspec.MsgspecError) as error:
        with suppress(OSError), open(log, "ab") as output:
            output.write(f"manyhands: {USAGE_FILE} is left out of account: {error}\n".encode())
        return ending
    return msgspec.structs.replace(ending, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, cost=usage.cost)
