"""Lengths of time as people write them (`20m`, `1h30m`, `500ms`), and the fields that take them."""

import re
from functools import lru_cache
from typing import Annotated

from manyhands.field_rules import read_by, rule

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)[ \t]*(ms|s|m|h|d)"
_PARTS = re.compile(_PART)
_PATTERN = rf"^[ \t]*({_PART}[ \t]*)+$".replace("?:", "")
_LENGTH_MAX = 100
_WHOLE = re.compile(_PATTERN)

DURATION_HINT = 'write it like "90s", "20m", "1h30m" or "500ms", or as a plain number of seconds'


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> float | None:
    """Seconds, or None if it is not a length of time."""
    if len(text) > _LENGTH_MAX or not _WHOLE.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PARTS.findall(text))


def _seconds(written: float | str) -> float | None:
    return parse_duration(written) if isinstance(written, str) else written


_WRITTEN = rule(
    "must be a length of time",
    DURATION_HINT,
    type=["number", "string"],
    pattern=_PATTERN,
    maxLength=_LENGTH_MAX,
)

#: Seconds, 0 or more.
Wait = Annotated[float, _WRITTEN, rule("must be 0 or more", minimum=0), read_by(_seconds)]
#: Seconds, more than 0: a text must have a digit that is not 0.
Duration = Annotated[float, _WRITTEN, rule("must be above 0", exclusiveMinimum=0, pattern="[1-9]"), read_by(_seconds)]
