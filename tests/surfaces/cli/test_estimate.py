"""The expected end: from what kinds usually take and what is in flight, never from all tasks."""

import pytest

from helpers import Player, a_host, a_task
from manyhands.surfaces.cli.live_picture import pace
from manyhands.surfaces.cli.printing import duration
from manyhands.surfaces.cli.time_left import FinishRate, expected_s


def left_s(player: Player) -> float | None:
    return expected_s(player.book.runs["r"], player.book.hosts.values(), player.at)


def test_nothing_is_expected_before_anything_is_known() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}") for n in range(6)))
    assert left_s(player) is None


def test_what_is_left_goes_at_the_pace_of_what_is_in_flight() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}") for n in range(6)))
    player.end("t0", "t1", after_s=10.0)
    assert left_s(player) == pytest.approx(20.0)
    player.wait(4.0)
    assert left_s(player) == pytest.approx(16.0)


def test_the_slowest_kind_decides_where_hosts_are_apart() -> None:
    player = Player(a_host("a", 2, kinds=("quick",)), a_host("b", 1, kinds=("slow",)))
    quick = [a_task(f"q{n}", kind="quick") for n in range(4)]
    player.open(*quick, *(a_task(f"s{n}", kind="slow") for n in range(4)))
    player.end("q0", "q1", after_s=1.0)
    assert left_s(player) is None, "nobody knows yet how long a slow one takes"
    player.end("s0", after_s=9.0)
    assert left_s(player) == pytest.approx(30.0)


def test_kinds_that_share_a_host_wait_for_each_other() -> None:
    player = Player(a_host(width=2))
    player.open(*(a_task(f"t{n}", kind="ab"[n % 2]) for n in range(6)))
    player.end("t0", "t1", after_s=10.0)
    assert left_s(player) == pytest.approx(20.0)


def test_nothing_more_is_expected_of_a_run_that_is_over() -> None:
    player = Player(a_host(width=2))
    player.open(a_task("a"), a_task("b"))
    player.end("a", "b")
    assert left_s(player) is None


@pytest.mark.parametrize(
    ("per_s", "text"), [(8.66, "8.7/s"), (1234.5, "1,234/s"), (0.05, "3.0/min"), (0.0004, "1.4/h"), (0.0, "0.0/h")]
)
def test_a_pace_is_told_in_the_unit_one_can_picture(per_s: float, text: str) -> None:
    assert pace(per_s) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0s"), (9.96, "10.0s"), (59.6, "1m"), (221, "3m 41s"), (7500, "2h 5m"), (3600, "1h"), (90000, "1d 1h")],
)
def test_a_duration_has_two_units_at_the_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_rate_begins_anew_when_tasks_that_had_ended_are_to_be_done_again() -> None:
    finished = FinishRate()
    assert finished.rate(0.0, 10) == 0.0
    assert finished.rate(1.0, 8) == 0.0  # two of them were edited
    assert finished.rate(3.0, 9) == 0.5
    assert finished.rate(40.0, 9) == 0.0
