"""When a limit ends, from every form in which programs and services say it; `now` always comes from outside."""

import datetime
import email.utils
import math
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

#: Monthly limits are the longest there are. What is farther off is a mistake, and then nothing is known.
FARTHEST_S = 40 * 86_400.0
_DAY_S = 86_400.0
#: Thousands of years from now, in milliseconds.
_MILLISECONDS_MAX = 1e14
#: A clock that is a little ahead of ours says that the limit ended a moment ago.
_SLACK_S = 300.0
#: A time to the minute is any moment of that minute: coming at its end is never too early.
_MINUTE_S = 59.0
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?(?::\d{2})?\s*(?P<half>[ap]\.?m\.?)?"
_DATE = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{{4}}))?"
_ZONE = r"(?:\s*\(?(?P<zone>UTC|GMT|Z|[A-Z][A-Za-z_]+/[A-Za-z_/+-]+)\)?)?"
_LEAD = r"(?:resets?|try again|available|retry|until|again)\s*(?:on|at|:)?\s*(?:at\s+)?"
_SAID_AT = re.compile(rf"{_LEAD}(?:{_DATE},?\s+(?:at\s+)?)?{_CLOCK}{_ZONE}(?![\w.])", re.I)
_SAID_DATE = re.compile(rf"{_LEAD}{_DATE}(?!\w)", re.I)
_SAID_IN = re.compile(
    r"(?:try again|retry|resets?|reset after|wait)\s*(?:in|after|for|:)?\s+((?:\d+(?:\.\d+)?\s*"
    r"(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)\b[\s,]*(?:and\s+)?)+)",
    re.I,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|d|h|m|s)", re.I)
_UNIT_S = {"ms": 0.001, "d": _DAY_S, "h": 3600.0, "m": 60.0, "s": 1.0}
_SAID_EPOCH = re.compile(r"(?<!\d)(1[5-9]\d{8}|[2-3]\d{9})(\d{3})?(?!\d)")
_SAID_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


def wait_until(moment: object, now: float) -> float | None:
    """Seconds until a moment that a field gives as a number (seconds or milliseconds) or as a date; None: unknown."""
    if isinstance(moment, bool):
        return None
    if isinstance(moment, int | float):
        return _from_epoch(moment, now)
    if not isinstance(moment, str) or len(moment) > 100:
        return None
    text = moment.strip()
    try:
        return _from_epoch(float(text), now)
    except ValueError:
        pass
    for parse in (datetime.datetime.fromisoformat, email.utils.parsedate_to_datetime):
        try:
            date = parse(text)
            if date.tzinfo is None:
                date = date.replace(tzinfo=datetime.UTC)
            return _bounded(date.timestamp() - now)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def wait_in_text(text: str, now: float, zone: datetime.tzinfo | None = None) -> float | None:
    """Seconds until the moment that a sentence names; a clock time without a zone is of `zone`, or of this machine."""
    text = text[:4000].replace("\u202f", " ").replace("\xa0", " ")
    if (said := _SAID_IN.search(text)) is not None:
        parts = _PART.findall(said[1])
        return _bounded(sum(float(amount) * _UNIT_S[unit.lower()] for amount, unit in parts))
    if (said := _SAID_ISO.search(text)) is not None:
        return wait_until(said[0], now)
    if (said := _SAID_EPOCH.search(text)) is not None:
        return _from_epoch(float(said[0]), now)
    for form in (_SAID_AT, _SAID_DATE):
        for said in form.finditer(text):
            wait_s = _from_parts(said.groupdict(), now, zone)
            if wait_s is not None:
                return wait_s
    return None


def _from_epoch(value: float, now: float) -> float | None:
    if not 1e9 <= value <= _MILLISECONDS_MAX:  # a whole number may be larger than any float
        return None
    return _bounded((value / 1000 if value > 1e11 else value) - now)


def _from_parts(said: dict[str, str | None], now: float, zone: datetime.tzinfo | None) -> float | None:
    try:
        here = datetime.datetime.fromtimestamp(now, _zone(said.get("zone"), zone))
        if here.tzinfo is None:
            here = here.astimezone()
        hour, minute = int(said.get("hour") or 0), int(said.get("minute") or 0)
        half = (said.get("half") or "").replace(".", "").lower()
        if half:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if half == "pm" else 0)
        elif said.get("hour") and not said.get("minute"):
            return None  # a bare number is not a time of day
        moment = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
        if said.get("month"):
            moment = _on_day(moment, said, here)
        elif moment.timestamp() < now - _SLACK_S:
            moment += datetime.timedelta(days=1)
        if zone is None and not said.get("zone"):
            moment = moment.replace(tzinfo=None).astimezone()  # summer time may begin in between
        return _bounded(moment.timestamp() + _MINUTE_S - now)
    except (ValueError, OverflowError, OSError):
        return None


def _on_day(moment: datetime.datetime, said: dict[str, str | None], here: datetime.datetime) -> datetime.datetime:
    month = _MONTHS.index(str(said["month"])[:3].lower()) + 1
    year = int(said["year"] or here.year)
    moment = moment.replace(year=year, month=month, day=int(said["day"] or 1))
    if not said["year"] and (here - moment).days > 180:
        moment = moment.replace(year=year + 1)
    return moment


def _zone(name: str | None, given: datetime.tzinfo | None) -> datetime.tzinfo | None:
    if not name:
        return given
    if name.upper() in ("UTC", "GMT", "Z"):
        return datetime.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return given


def _bounded(wait_s: float) -> float | None:
    if not math.isfinite(wait_s) or wait_s > FARTHEST_S or wait_s < -_DAY_S:
        return None
    return max(0.0, wait_s)
