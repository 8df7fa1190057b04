"""Times that come again, in the form of cron: minute, hour, day of the month, month, day of the week.

Pure: it is told the time. A time that the clocks leave out comes as much later, and one that they repeat comes once.
With `*` as its hour every hour that passes counts, also one that is repeated.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
#: 29 February comes again within eight years, also across 2100.
_DAYS_AHEAD_MAX = 8 * 366 + 1
_DAY = timedelta(days=1)


class BadSchedule(ValueError):
    """What is wrong with it, and how it should be."""

    def __init__(self, rule: str, hint: str) -> None:
        super().__init__(rule)
        self.rule, self.hint = rule, hint


class _Field(NamedTuple):
    name: str
    first: int
    last: int
    names: Mapping[str, int]


_FIELDS = (
    _Field("minute", 0, 59, {}),
    _Field("hour", 0, 23, {}),
    _Field("day of the month", 1, 31, {}),
    _Field("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    _Field("day of the week", 0, 7, {name: number for number, name in enumerate(_DAYS)}),
)


class Schedule(NamedTuple):
    text: str  # as it was written, with its time zone: another text is another schedule
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 is Sunday
    every_hour: bool
    either_day: bool  # both days are restricted: one of them is enough, as in every cron
    zone: tzinfo

    def next_after(self, at: float) -> float:
        """The first time after this one."""
        day = self._local(at) - _DAY
        for _ in range(_DAYS_AHEAD_MAX):
            # A change of the clocks may move a time to the next day, so two days are looked at together.
            later = [moment for each in (day, day + _DAY) for moment in self._moments(each) if moment > at]
            if later:
                return min(later)
            day += _DAY
        raise BadSchedule("never comes", "there is no such day in any year")

    def latest(self, after: float, until: float) -> float | None:
        """The last time after the one and not after the other. None: there is none."""
        day, first = self._local(until) + _DAY, self._local(after) - _DAY
        while day >= first:
            past = [moment for each in (day, day - _DAY) for moment in self._moments(each) if after < moment <= until]
            if past:
                return max(past)
            day -= _DAY
        return None

    def _local(self, at: float) -> date:
        return datetime.fromtimestamp(at, self.zone).date()

    def _moments(self, day: date) -> Iterator[float]:
        if not self._has(day):
            return
        for hour in self.hours:
            for minute in self.minutes:
                wall = datetime.combine(day, time(hour, minute), self.zone)
                moment = wall.timestamp()
                is_real = datetime.fromtimestamp(moment, self.zone).replace(tzinfo=None) == wall.replace(tzinfo=None)
                if is_real or not self.every_hour:
                    yield moment
                if self.every_hour:
                    yield wall.replace(fold=1).timestamp() if is_real else moment

    def _has(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return of_month or of_week if self.either_day else of_month and of_week


def parse_schedule(text: str, timezone: str = "UTC") -> Schedule:
    """Raises `BadSchedule`."""
    words = text.split()
    if len(words) != len(_FIELDS):
        names = ", ".join(field.name for field in _FIELDS)
        raise BadSchedule(f"must have five fields: {names}", '`"0 2 * * 1-5"` is two o\'clock on weekdays')
    minutes, hours, days, months, weekdays = (
        frozenset(_values(word.lower(), field)) for word, field in zip(words, _FIELDS, strict=True)
    )
    schedule = Schedule(
        f"{' '.join(words)} {timezone}",
        minutes,
        hours,
        days,
        months,
        frozenset(number % 7 for number in weekdays),
        every_hour=words[1].startswith("*"),
        either_day=not (words[2].startswith("*") or words[4].startswith("*")),
        zone=_zone(timezone),
    )
    schedule.next_after(0.0)
    return schedule


def _values(word: str, field: _Field) -> Iterable[int]:
    for part in word.split(","):
        span, slash, step_word = part.partition("/")
        step = _number(step_word, field, {}) if slash else 1
        if span == "*":
            first, last = field.first, field.last
        else:
            from_word, dash, to_word = span.partition("-")
            first = _number(from_word, field, field.names)
            last = _number(to_word, field, field.names) if dash else first
            if slash and not dash:
                raise _bad(part, field, f"write `*/{step}` or a range with a step, such as `8-18/{step}`")
        if step < 1 or not field.first <= first <= last <= field.last:
            raise _bad(part, field, f"numbers go up from {field.first} to {field.last}")
        yield from range(first, last + 1, step)


def _number(word: str, field: _Field, names: Mapping[str, int]) -> int:
    if word in names:
        return names[word]
    if not (word.isascii() and word.isdigit() and len(word) < 4):
        known = f" or a name such as `{next(iter(field.names))}`" if field.names else ""
        raise _bad(word, field, f"write a number{known}, a list, a range, `*` or a step such as `*/2`")
    return int(word)


def _bad(part: str, field: _Field, hint: str) -> BadSchedule:
    return BadSchedule(f"has a bad {field.name} `{part[:40]}`", hint)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadSchedule(
            f"has a time zone that this machine does not know: `{name[:60]}`",
            "write it as `Europe/Berlin`; leave it out for UTC",
        ) from None
