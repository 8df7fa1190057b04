"""Lengths of time as people write them: `20m`, `1h30m`, `500ms`."""

import re
from functools import lru_cache

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(ms|s|m|h|d)", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern}\s*)+", re.ASCII)

DURATION_HINT = 'write it like "90s", "20m", "1h30m" or "500ms", or as a plain number of seconds'
#: For schemas: what `parse_duration` understands.
DURATION_PATTERN = r"^\s*([0-9]{1,12}(\.[0-9]{1,9})?\s*(ms|s|m|h|d)\s*)+$"


@lru_cache(maxsize=1024)
def parse_duration(text: str) -> float | None:
    """Seconds, or None if it is not a length of time."""
    text = text.strip()
    if len(text) > 100 or not _WHOLE.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
