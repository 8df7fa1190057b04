"""Every form of a reset time is understood, against a `now` that the test gives."""

import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.hosts.executors.reset_times import FARTHEST_S, wait_in_text, wait_until

#: 2026-11-16 14:00:00 UTC, a Monday.
NOW = datetime.datetime(2026, 11, 16, 14, tzinfo=datetime.UTC).timestamp()
HOUR = 3600.0
#: A minute that is named is waited for to its end.
LATE = 59.0


@pytest.mark.parametrize(
    ("moment", "wait_s"),
    [
        (NOW + 90, 90.0),
        ((NOW + 90) * 1000, 90.0),
        (str(int(NOW + 90)), 90.0),
        ("2026-11-16T15:00:00Z", HOUR),
        ("2026-11-16T16:00:00+01:00", HOUR),
        ("Mon, 16 Nov 2026 15:00:00 GMT", HOUR),
        (NOW - 20, 0.0),
        (0, None),
        (-1, None),
        (True, None),
        (NOW + 56 * 365 * 86_400, None),
        (float("nan"), None),
        (float("inf"), None),
        pytest.param(10**400, None, id="larger than any float"),
        ("9" * 90, None),
        ("tomorrow", None),
        ([], None),
        (None, None),
    ],
)
def test_moments_in_fields(moment: object, wait_s: float | None) -> None:
    assert wait_until(moment, NOW) == wait_s


@pytest.mark.parametrize(
    ("text", "wait_s"),
    [
        ("usage limit reached, or try again at 2:57 PM.", 57 * 60.0 + LATE),
        ("usage limit reached, try again at 1:30 PM.", 23.5 * HOUR + LATE),
        ("usage limit reached, try again at 1:58 PM.", 0.0),
        ("try again at Nov 18th, 2026 10:03 PM.", 2 * 86_400 + 8 * HOUR + 180 + LATE),
        ("your limit is used up, resets 2:57pm (UTC)", 57 * 60.0 + LATE),
        ("resets 4pm (Europe/Berlin)", HOUR + LATE),
        ("resets Nov 20 at 9am (UTC)", 3 * 86_400 + 19 * HOUR + LATE),
        ("limit reached|1794841200", HOUR),
        ("please try again in 2s.", 2.0),
        ("try again in 1h 30m", 5400.0),
        ("try again in 3 days, 4 hours and 5 minutes.", 3 * 86_400 + 4 * HOUR + 300),
        ("Retry after 1.5 seconds", 1.5),
        ("Suggested retry after 2s.", 2.0),
        ("resets at 2026-11-16T15:00:00Z", HOUR),
        ("try again later", None),
        ("try again at 5", None),
        ("try again at 13:99", None),
        ("limit of 30,000 input tokens per minute", None),
    ],
)
def test_moments_in_sentences(text: str, wait_s: float | None) -> None:
    assert wait_in_text(text, NOW, datetime.UTC) == wait_s


def test_a_clock_time_without_a_zone_is_of_the_zone_given() -> None:
    assert wait_in_text("try again at 2:57 PM", NOW, ZoneInfo("America/New_York")) == 5 * HOUR + 57 * 60 + LATE


def test_a_date_without_a_year_in_january_is_of_next_year() -> None:
    december = datetime.datetime(2026, 12, 30, 12, tzinfo=datetime.UTC).timestamp()
    assert wait_in_text("resets Jan 2 at 12:00 pm (UTC)", december) == 3 * 86_400 + LATE


@given(st.text(max_size=200), st.floats(0, 4e9))
def test_no_text_raises_and_no_wait_is_without_end(text: str, now: float) -> None:
    for wait_s in (wait_in_text(f"try again at {text}", now, datetime.UTC), wait_until(text, now)):
        assert wait_s is None or 0 <= wait_s <= FARTHEST_S
