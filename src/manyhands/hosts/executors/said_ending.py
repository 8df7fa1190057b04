"""How a command says that it went: by a file, by its exit code, or by what it prints where a person gave a pattern.

Only commands know whether they were refused or are wrong; an exit code alone says neither.
"""

import re
from pathlib import Path
from typing import Annotated, assert_never

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.asking import question_variables, with_question
from manyhands.hosts.executors.output_text import one_line, tail_of
from manyhands.hosts.executors.report_files import UnusableReport, note_unusable, read_report
from manyhands.hosts.executors.reset_times import FARTHEST_S, wait_until
from manyhands.hosts.executors.said_notes import NOTES_FILE, NOTES_VARIABLE, with_notes
from manyhands.hosts.executors.usage import USAGE_FILE, Usage

ENDING_FILE = "ending.json"
#: What `sysexits.h` calls a temporary failure: the command asks to be tried again later.
TRY_AGAIN_LATER = 75
#: How much of the end of the output a host's pattern is looked for in.
_SEARCHED_BYTES = 8_192


class SaidEnding(Usage, frozen=True):
    """What the file may say; other fields are passed over."""

    overloaded: bool = False
    retry_after: Annotated[float, Meta(ge=0, le=FARTHEST_S)] | None = None  # seconds
    until: str | float | int | None = None  # seconds or milliseconds since 1970, or a date
    quota: bool = False  # a budget is used up until then
    rate_limited: bool = False
    permanent: bool = False
    needs_person: bool = False
    detail: str = ""


def report_variables(directory: Path) -> dict[str, str]:
    """Where a command or function may write what it has to say of itself."""
    return {
        "MANYHANDS_USAGE_FILE": str(directory / USAGE_FILE),
        "MANYHANDS_ENDING_FILE": str(directory / ENDING_FILE),
        NOTES_VARIABLE: str(directory / NOTES_FILE),
        **question_variables(directory),
    }


def as_said(ending: Ending, directory: Path, log: Path, now: float) -> Ending:
    """The ending as the command's own files leave it; what cannot be read is said in the attempt's output."""
    ending = with_notes(ending, directory, log)
    if ending.kind is EndingKind.CANCELLED:
        return ending
    if _ended_by_itself(ending.kind):
        ending = with_question(ending, directory, log)
        if ending.asks is not None:
            return ending
    try:
        content = read_report(directory / ENDING_FILE)
        if content is None:
            return ending
        said = msgspec.json.decode(content, type=SaidEnding)
    except (UnusableReport, ValueError, RecursionError) as error:  # nothing of this may cost the attempt its ending
        note_unusable(log, ENDING_FILE, error)
        return ending
    return _applied(ending, said, now)


def as_printed(ending: Ending, pattern: str, log: Path) -> Ending:
    """Overloaded, if the end of the output has the host's pattern for that; for programs that only print."""
    if not pattern or not _ended_by_itself(ending.kind):
        return ending
    for line in reversed(tail_of(log, bytes_max=_SEARCHED_BYTES).splitlines()):
        if re.search(pattern, line):
            return replace(ending, kind=EndingKind.OVERLOADED, detail=one_line(line), permanent=False)
    return ending


def _ended_by_itself(kind: EndingKind) -> bool:
    match kind:
        case EndingKind.DONE | EndingKind.FAILED:
            return True
        case (
            EndingKind.OVERLOADED | EndingKind.TIMED_OUT | EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST
        ):
            return False
        case _:
            assert_never(kind)


def _applied(ending: Ending, said: SaidEnding, now: float) -> Ending:
    detail = one_line(said.detail) or ending.detail
    if said.tokens_in is not None or said.tokens_out is not None or said.cost is not None:
        used = {"tokens_in": said.tokens_in or 0, "tokens_out": said.tokens_out or 0, "cost": said.cost}
        ending = replace(ending, **used)
    if said.permanent or (said.needs_person and not said.overloaded):
        return replace(
            ending,
            kind=EndingKind.FAILED,
            detail=detail or ("needs a person" if said.needs_person else "said to be permanent"),
            permanent=said.permanent,
            needs_person=said.needs_person,
        )
    wait_s = said.retry_after if said.retry_after is not None else wait_until(said.until, now)
    if said.overloaded or said.quota or said.rate_limited or wait_s is not None:
        return replace(
            ending,
            kind=EndingKind.OVERLOADED,
            detail=detail or "said to be overloaded",
            permanent=False,
            retry_after_s=wait_s,
            quota=said.quota,
            rate_limited=said.rate_limited and not said.quota,
            needs_person=said.needs_person,
        )
    return replace(ending, detail=detail)
