"""The conversation of an attempt, stored beside its output as soon as it is known, so that the next can resume it."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.hosts.agents.adapter import is_session
from manyhands.hosts.executors.report_files import UnusableReport, read_report
from manyhands.readers.plain_file import write_plain

SESSION_FILE = "session.json"
_Total = Annotated[int, Meta(ge=0, le=2**53)]


class KeptSession(Struct, frozen=True, omit_defaults=True):
    id: str
    agent: str
    directory: str  # where it worked
    tokens_in: _Total = 0  # of all its runs so far, if the program reports them that way
    tokens_out: _Total = 0
    cost: Annotated[float, Meta(ge=0, le=2**53)] = 0.0  # likewise
    home: str = ""  # which its attempt had for itself


def keep_session(session: KeptSession, directory: Path) -> None:
    with suppress(OSError):  # without it the next attempt begins a new conversation
        file = directory / SESSION_FILE
        file.unlink(missing_ok=True)  # what the task has put there
        write_plain(file, msgspec.json.encode(session))


def earlier_session(directory: Path, number: int) -> KeptSession | None:
    """The conversation of the latest attempt of the same task before this one."""
    stem = str(directory).removesuffix(str(number))
    for earlier in range(number - 1, 0, -1):
        try:
            content = read_report(Path(f"{stem}{earlier}", SESSION_FILE))
            if content is not None:
                session = msgspec.json.decode(content, type=KeptSession)
                return session if is_session(session.id) else None
        except (UnusableReport, ValueError, RecursionError):
            return None
    return None
