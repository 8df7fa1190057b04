"""When a schedule comes next: fields as in cron, names, and days on which the clocks change."""

import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.sources.config.config_reading import load_config
from manyhands.sources.config.cron import BadSchedule, parse_schedule

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def following(schedule: str, after: str, count: int, zone: str = "UTC") -> list[str]:
    """The next times as the clock on the wall shows them, with its offset."""
    parsed, moment, found = parse_schedule(schedule, zone), at(after, zone), []
    for _ in range(count):
        moment = parsed.next_after(moment)
        found.append(datetime.fromtimestamp(moment, ZoneInfo(zone)).strftime("%a %m-%d %H:%M%z"))
    return found


@pytest.mark.parametrize(
    ("schedule", "after", "times"),
    [
        ("0 2 * * 1-5", "2026-11-20T02:00", ["Mon 11-23 02:00+0000", "Tue 11-24 02:00+0000"]),
        ("*/20 8-9 * * *", "2026-11-20T08:30", ["Fri 11-20 08:40+0000", "Fri 11-20 09:00+0000"]),
        ("5,35 1 1 jan,JUL *", "2026-11-20T00:00", ["Fri 01-01 01:05+0000", "Fri 01-01 01:35+0000"]),
        ("0 0 * * sun", "2026-11-20T00:00", ["Sun 11-22 00:00+0000"]),
        ("0 0 * * 7", "2026-11-20T00:00", ["Sun 11-22 00:00+0000"]),
        ("0 0 13 * fri", "2026-11-20T00:00", ["Fri 11-27 00:00+0000", "Fri 12-04 00:00+0000"]),
        ("0 0 29 2 *", "2026-11-20T00:00", ["Tue 02-29 00:00+0000"]),
        ("0 10-16/3 * * *", "2026-11-20T11:00", ["Fri 11-20 13:00+0000", "Fri 11-20 16:00+0000"]),
        ("0 0 */10 * mon", "2026-11-20T00:00", ["Mon 12-21 00:00+0000"]),
    ],
)
def test_the_times_that_follow(schedule: str, after: str, times: list[str]) -> None:
    assert following(schedule, after, len(times)) == times


def test_a_time_that_the_clocks_leave_out_comes_an_hour_later() -> None:
    assert following("30 2 * * *", "2026-03-28T12:00", 2, BERLIN) == ["Sun 03-29 03:30+0200", "Mon 03-30 02:30+0200"]


def test_a_time_that_the_clocks_repeat_comes_once() -> None:
    assert following("30 2 * * *", "2026-10-24T12:00", 2, BERLIN) == ["Sun 10-25 02:30+0200", "Mon 10-26 02:30+0100"]


def test_every_hour_is_every_hour_that_passes() -> None:
    spring = following("15 * * * *", "2026-03-29T00:30", 3, BERLIN)
    assert spring == ["Sun 03-29 01:15+0100", "Sun 03-29 03:15+0200", "Sun 03-29 04:15+0200"]
    autumn = following("15 * * * *", "2026-10-25T01:30", 3, BERLIN)
    assert autumn == ["Sun 10-25 02:15+0200", "Sun 10-25 02:15+0100", "Sun 10-25 03:15+0100"]


def test_the_schedule_in_the_docs_is_read(tmp_path: Path) -> None:
    text = Path("docs/backlogs.md").read_text()
    example = next(block for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "schedule =" in block)
    (tmp_path / "manyhands.toml").write_text(example)
    [backlog] = load_config(tmp_path, environ={}).backlogs
    schedule = parse_schedule(backlog.schedule, backlog.timezone)
    friday = schedule.next_after(at("2026-11-20T01:00", BERLIN))
    assert (friday, schedule.next_after(friday)) == (at("2026-11-20T02:00", BERLIN), at("2026-11-23T02:00", BERLIN))


MINUTES = st.sampled_from(["0", "*/15", "5,50"])
HOURS = st.sampled_from(["*", "2", "0-3", "*/6", "23"])
DAYS = st.sampled_from(["*", "1", "29", "*/7"])
WEEKDAYS = st.sampled_from(["*", "mon-fri", "0"])
ZONES = st.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe"])


@settings(max_examples=60, deadline=None)
@given(MINUTES, HOURS, DAYS, WEEKDAYS, ZONES, st.integers(1_767_225_600, 1_798_761_600), st.integers(0, 9 * 86_400))
def test_the_latest_time_is_the_one_that_nothing_follows(
    minute: str, hour: str, day: str, weekday: str, zone: str, after: int, length_s: int
) -> None:
    """Nothing between is left out, whichever end it is looked at from: what is missed is neither lost nor repeated."""
    schedule = parse_schedule(f"{minute} {hour} {day} * {weekday}", zone)
    until, latest, moment = after + length_s, None, schedule.next_after(after)
    while moment <= until:
        latest, before = moment, moment
        moment = schedule.next_after(moment)
        assert moment > before
    assert schedule.latest(after, until) == latest


@pytest.mark.parametrize(
    ("schedule", "zone", "words"),
    [
        ("0 2 * *", "UTC", "must have five fields: minute, hour"),
        ("60 2 * * *", "UTC", "has a bad minute `60`"),
        ("0 2 0 * *", "UTC", "has a bad day of the month `0`"),
        ("0 5-2 * * *", "UTC", "has a bad hour `5-2`"),
        ("0 2 * * frieday", "UTC", "has a bad day of the week `frieday`"),
        ("0/5 * * * *", "UTC", "has a bad minute `0/5`"),
        ("*/0 * * * *", "UTC", "has a bad minute `*/0`"),
        ("1,,2 * * * *", "UTC", "has a bad minute ``"),
        ("0 2 31 2 *", "UTC", "never comes"),
        ("0 2 * * *", "Middle/Earth", "does not know: `Middle/Earth`"),
        ("0 2 * * *", "../../etc/passwd", "does not know"),
    ],
)
def test_a_bad_schedule_is_refused_with_what_is_wrong(schedule: str, zone: str, words: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        parse_schedule(schedule, zone)
    assert words in refused.value.rule
    assert refused.value.hint


def test_utc_needs_no_table_of_time_zones() -> None:
    assert parse_schedule("0 2 * * *").zone is UTC
