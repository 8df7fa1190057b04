"""Points in time as Beads writes them: RFC 3339, to the nanosecond, with any offset. Here they are nanoseconds."""

import re
from datetime import UTC, datetime
from functools import lru_cache

_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|z|[+-]\d\d:\d\d)", re.ASCII)
_SECOND_NS = 1_000_000_000


@lru_cache(maxsize=4096)
def nanoseconds(text: str) -> int | None:
    """Nanoseconds since 1970; None if the text is not a point in time."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    date, time, fraction, offset = found.groups()
    try:
        whole = datetime.fromisoformat(f"{date}T{time}{'+00:00' if offset in 'Zz' else offset}")
        seconds = int(whole.timestamp())
    except (ValueError, OverflowError):
        return None
    return seconds * _SECOND_NS + (int(fraction.ljust(9, "0")) if fraction else 0)


def written(at_ns: int) -> str:
    """The time as Go writes it, without trailing zeros."""
    seconds, fraction = divmod(at_ns, _SECOND_NS)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{fraction:09d}".rstrip("0")
    return f"{text}.{digits}Z" if digits else f"{text}Z"
