"""What an ending tells about the load of a host, for limits that see only endings."""

import enum
from typing import assert_never

from manyhands.core.values.ending import EndingKind


class LoadSign(enum.Enum):
    FINE = "fine"
    TOO_MUCH = "too much"
    NONE = "none"


def load_sign(kind: EndingKind) -> LoadSign:
    match kind:
        case EndingKind.DONE:
            return LoadSign.FINE
        case EndingKind.OVERLOADED:
            return LoadSign.TOO_MUCH
        case EndingKind.FAILED | EndingKind.TIMED_OUT:
            return LoadSign.NONE
        case EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            return LoadSign.NONE
        case _:
            assert_never(kind)
