"""What a running attempt does just now: in a file beside its output, so that anybody may look, and never journalled."""

import time
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from manyhands.hosts.executors.report_files import UnusableReport, read_report

LIVE_FILE = "live.json"
_Total = Annotated[int, Meta(ge=0, le=2**53)]
_Moment = Annotated[float, Meta(ge=0, le=2**53)]


class LiveFacts(Struct, frozen=True, omit_defaults=True):
    alive_at: _Moment = 0.0  # when it last printed or computed anything, in seconds since 1970
    idle_s: _Moment = 0.0  # the silence that ends it; 0: none does
    does: Annotated[str, Meta(max_length=1000)] = ""  # its last tool, with the files or the command
    tokens_in: _Total = 0
    tokens_out: _Total = 0
    cost: Annotated[float, Meta(ge=0, le=2**53)] | None = None
    retries: _Total = 0  # how often it has asked its model again


def read_live(directory: Path) -> LiveFacts | None:
    """What the attempt that works with this directory does; None: nobody says. The attempt may have written it."""
    try:
        content = read_report(directory / LIVE_FILE)
        return None if content is None else msgspec.json.decode(content, type=LiveFacts)
    except (UnusableReport, ValueError, RecursionError):
        return None


def silence_s(facts: LiveFacts, now: float | None = None) -> float:
    """For how long it has given no sign of life."""
    return max(0.0, (time.time() if now is None else now) - facts.alive_at) if facts.alive_at else 0.0
