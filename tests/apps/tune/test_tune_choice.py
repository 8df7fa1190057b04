"""Which width is measured next and which is picked, from figures worked by hand."""

import math
from typing import Any

import msgspec
import pytest

from manyhands.apps.tune.choice import choose, counted_at, next_width
from manyhands.apps.tune.width_figures import MeasuredWidth, Try, measured
from manyhands.core.values.ending import DONE, Ending, EndingKind


def step(width: int, goodput: float, spread: float = 0.01, **fields: Any) -> MeasuredWidth:
    plain = MeasuredWidth(
        width=width,
        attempts=24,
        done=24,
        failed=0,
        overloads=0,
        peak=width,
        goodput_per_s=goodput,
        spread=spread,
        tokens_per_s=None,
        p50_s=1.0,
        p95_s=1.0,
    )
    return msgspec.structs.replace(plain, **fields)


def steps(*made: MeasuredWidth) -> dict[int, MeasuredWidth]:
    return {one.width: one for one in made}


def test_it_doubles_while_doubling_pays() -> None:
    assert next_width({}, 64).width == 1
    assert next_width(steps(step(1, 1.0)), 64).width == 2
    assert next_width(steps(step(1, 1.0), step(2, 1.9)), 64).width == 4


def test_a_doubling_that_buys_less_than_5_percent_ends_the_ramp_and_both_sides_of_the_pick_are_looked_at() -> None:
    ramp = [step(1, 1.0), step(2, 2.0), step(4, 4.0), step(8, 4.1)]
    assert next_width(steps(*ramp), 64).width == 3
    assert next_width(steps(*ramp, step(3, 3.0)), 64).width == 6
    over = next_width(steps(*ramp, step(3, 3.0), step(6, 4.1)), 64)
    assert over.width is None
    assert over.why == "4 → 8 changed goodput by +2%"


def test_a_doubling_that_looks_flat_but_is_too_uncertain_is_measured_once_more() -> None:
    ramp = steps(step(1, 1.0), step(2, 2.0), step(4, 2.05, spread=0.2))
    assert next_width(ramp, 64).width == 4
    again = steps(step(1, 1.0), step(2, 2.0), step(4, 2.05, spread=0.2, rounds=2))
    assert next_width(again, 64).width == 3  # now it is taken as flat: 2 is picked, and 3 stands above it


def test_an_overload_ends_the_ramp_and_nothing_as_wide_is_tried_again() -> None:
    ramp = [step(1, 1.0), step(2, 2.0), step(4, 4.0), step(8, 6.0, overloads=3, why="no room")]
    tried = steps(*ramp)
    while (width := next_width(tried, 64).width) is not None:
        assert width < 8
        tried[width] = step(width, float(width))
    assert next_width(tried, 64).why == "overloaded at 8: no room"
    assert choose(tried) is not None
    assert choose(tried).width == 6  # type: ignore[union-attr]


def test_a_refused_rate_ends_it_at_once() -> None:
    ramp = steps(step(1, 1.0), step(2, 2.0), step(4, 2.0, overloads=1, rate_limited=True, why="429"))
    assert next_width(ramp, 64).width is None


def test_a_width_that_cannot_be_filled_ends_the_ramp() -> None:
    found = next_width(steps(step(1, 1.0), step(2, 2.0), step(4, 2.5, peak=3)), 64)
    assert found.width == 3
    found = next_width(steps(step(1, 1.0), step(2, 2.0), step(3, 2.5), step(4, 2.5, peak=3)), 64)
    assert found.width is None
    assert "never more than 3 in flight" in found.why


def test_no_width_above_the_bound_is_tried() -> None:
    tried: dict[int, MeasuredWidth] = {}
    while (width := next_width(tried, 6).width) is not None:
        tried[width] = step(width, float(width))
    assert sorted(tried) == [1, 2, 4, 5, 6]


def test_the_pick_is_the_smallest_within_5_percent_and_the_range_what_cannot_be_told_apart() -> None:
    tested = steps(step(4, 3.0, 0.001), step(6, 7.7, 0.05), step(8, 8.8, 0.001), step(12, 9.0, 0.05), step(16, 8.0))
    choice = choose(tested)
    assert choice is not None
    assert (choice.width, choice.best) == (8, 12)
    assert str(choice) == "8 (8–12)"
    assert choose(steps(step(1, 0.0))) is None


def test_every_width_gets_whole_turns_of_the_probe_tasks() -> None:
    assert [counted_at(width, 1) for width in (1, 4, 8, 64)] == [8, 8, 16, 128]
    assert [counted_at(width, 5) for width in (1, 4, 8)] == [10, 10, 20]


def fixed_round(width: int, count: int, took_s: float, probes: int = 1) -> list[Try]:
    return [Try(f"p{n % probes}", n // width * took_s, (n // width + 1) * took_s, DONE) for n in range(count)]


def test_goodput_is_of_the_endings_between_filling_up_and_running_empty() -> None:
    found = measured(4, 8, [fixed_round(4, 15, 2.0)])
    assert found is not None
    assert (found.attempts, found.peak) == (15, 4)
    assert found.goodput_per_s == pytest.approx(2.0)
    assert found.spread == pytest.approx(0.0)


def test_a_queue_that_fills_up_at_first_does_not_flatter_the_width() -> None:
    # One at a time is worked on: at width 8 the first waits for nobody, the eighth for seven others.
    tries = [Try("p", max(0.0, n - 7.0), n + 1.0, DONE) for n in range(31)]
    found = measured(8, 16, [tries])
    assert found is not None
    assert found.goodput_per_s == pytest.approx(1.0)


def test_tasks_that_differ_from_each_other_are_no_doubt_about_the_host() -> None:
    tries = [Try(f"p{n % 2}", float(n), n + 1.0 + n % 2, DONE) for n in range(8)]
    found = measured(1, 8, [tries])
    assert found is not None
    assert found.spread == pytest.approx(0.0)


def test_failures_take_time_and_give_nothing() -> None:
    failed = Ending(EndingKind.FAILED, "no")
    tries = [Try("p", float(n), n + 1.0, failed if n in (0, 4) else DONE) for n in range(9)]
    found = measured(1, 8, [tries])
    assert found is not None
    assert (found.failed, found.done, found.why) == (2, 7, "no")
    assert found.goodput_per_s == pytest.approx(0.875)
    assert found.spread == pytest.approx(math.sqrt(1 / (7 * 8)))


def test_what_we_stopped_ourselves_does_not_count() -> None:
    tries = [*fixed_round(1, 3, 1.0), Try("p", 3.0, 3.1, Ending(EndingKind.PREEMPTED))]
    found = measured(1, 8, [tries])
    assert found is not None
    assert found.attempts == 3
    assert measured(1, 8, [tries[3:]]) is None
