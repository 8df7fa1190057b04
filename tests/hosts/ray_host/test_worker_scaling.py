"""How many model workers are wanted, in simulation: in time, within the budget, none when there is nothing to do."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.ray_host.worker_fleet import RATE, START_S, simulate
from manyhands.hosts.ray.pace import Pace, WorkerLoad
from manyhands.hosts.ray.scaling import Desired, Scaler, Scaling, WorkersSeen

POLICY = Scaling(max=10, drain_s=300, idle_s=600, settle_s=120)


def test_a_burst_is_done_in_time_and_the_workers_go_when_it_is_over() -> None:
    fleet = simulate([3000] + [0] * 3600, Scaler(POLICY).observe)
    assert fleet.left == 0
    assert fleet.wait_max_s <= POLICY.drain_s + 2 * START_S  # the first must come up before its pace is known
    assert max(fleet.counts) > 5
    assert fleet.counts[-1] == 0


def test_none_runs_while_there_is_nothing_to_do_and_the_first_item_brings_one() -> None:
    fleet = simulate([0] * 600 + [1] + [0] * 300, Scaler(POLICY).observe)
    assert set(fleet.counts[:600]) == {0}
    assert fleet.left == 0
    assert max(fleet.counts) == 1


def test_what_it_may_cost_in_an_hour_is_never_exceeded() -> None:
    policy = Scaling(max=10, drain_s=60, cost_per_hour=2.5, budget_per_hour=8)
    fleet = simulate([5000] + [0] * 3600, Scaler(policy).observe)
    assert max(fleet.counts) == 3
    wanted = Scaler(policy).observe(WorkersSeen(0, 3, 5000, 0, 5000, RATE, START_S))
    assert wanted.workers == 3
    assert wanted.why == "8 an hour pays for 3 at 2.5 each; 5,000 items, 60 s left, a worker does 2 a second"


def test_a_steady_load_does_not_make_workers_come_and_go() -> None:
    rng = random.Random(7)
    fleet = simulate([rng.choice((0, 0, 5, 15)) for _ in range(3600)], Scaler(POLICY).observe)
    assert fleet.starts <= max(fleet.counts) + 2
    assert fleet.wait_p95_s <= POLICY.drain_s


def test_a_day_with_a_peak_costs_less_than_half_of_a_fleet_for_the_peak() -> None:
    rng = random.Random(11)
    day = [int(rng.random() < 0.02) for _ in range(3600)] + [rng.choice((8, 12, 16)) for _ in range(1200)]
    day += [0] * 3600
    scaled = simulate(day, Scaler(POLICY).observe)
    fixed = simulate(day, lambda seen: Desired(max(scaled.counts), "always"))
    assert scaled.left == 0
    assert scaled.wait_p95_s <= POLICY.drain_s
    assert scaled.worker_hours < fixed.worker_hours / 2


def test_the_least_that_was_asked_for_is_always_there() -> None:
    fleet = simulate([0] * 1200, Scaler(Scaling(min=2)).observe)
    assert set(fleet.counts) == {2}


@st.composite
def policies(draw: st.DrawFn) -> Scaling:
    most = draw(st.integers(1, 12))
    return Scaling(
        min=draw(st.integers(0, most)),
        max=most,
        drain_s=draw(st.sampled_from((1.0, 60.0, 300.0))),
        idle_s=draw(st.sampled_from((5.0, 60.0, 600.0))),
        settle_s=draw(st.sampled_from((5.0, 120.0))),
        cost_per_hour=draw(st.sampled_from((0.0, 2.5))),
        budget_per_hour=draw(st.sampled_from((None, 5.0, 20.0))),
    )


#: (seconds since the last look, items, what a worker does in a second, the host's width)
LOOKS = st.tuples(
    st.sampled_from((1.0, 5.0, 45.0, 700.0)),
    st.sampled_from((0, 0, 1, 7, 200, 5000)),
    st.sampled_from((None, 0.02, 1.0, 40.0)),
    st.sampled_from((1, 6, 64)),
)


@given(policies(), st.lists(LOOKS, min_size=1, max_size=40))
def test_whatever_it_sees_it_stays_within_its_bounds_and_does_not_flap(
    policy: Scaling, looks: list[tuple[float, int, float | None, int]]
) -> None:
    """Few enough to be paid, as many as were promised, one at the least for work; and what was just brought stays."""
    scaler, at, workers, busy_at = Scaler(policy), 0.0, 0, 0.0
    most = policy.max
    if policy.budget_per_hour is not None and policy.cost_per_hour:
        most = min(most, int(policy.budget_per_hour / policy.cost_per_hour))
    least = min(policy.min, most)
    brought: list[tuple[float, int]] = []  # when, and how many there were then
    for passed_s, items, rate, width in looks:
        at += passed_s
        busy_at = at if items else busy_at or at
        desired = scaler.observe(WorkersSeen(at, workers, items, passed_s, items, rate, 30.0, in_flight_max=width))
        assert max(least, min(1, items)) <= desired.workers <= most
        assert desired.why
        if desired.workers > workers:
            brought.append((at, desired.workers))
        if desired.workers < workers:
            stays_s = policy.settle_s if items else policy.idle_s
            assert all(count <= desired.workers for since, count in brought if at - since < stays_s)
        if not items and at - busy_at >= policy.idle_s:
            assert desired.workers == least
        workers = desired.workers


def test_how_fast_a_worker_is_is_measured_while_it_has_work_and_its_models() -> None:
    pace = Pace()
    assert pace.observe(WorkerLoad(0.0, up=0, items=100, done=0)) is None
    assert pace.observe(WorkerLoad(60.0, up=1, items=100, done=0)) is None
    assert pace.observe(WorkerLoad(90.0, up=1, items=99, done=1)) is None  # the first has waited for its model
    assert pace.observe(WorkerLoad(100.0, up=2, items=79, done=21)) == 2.0
    assert pace.observe(WorkerLoad(105.0, up=2, items=59, done=41)) is not None
    slower = pace.rate
    assert pace.observe(WorkerLoad(900.0, up=2, items=0, done=41)) < (slower or 0)  # they had work and did nothing
    idle = pace.rate
    assert pace.observe(WorkerLoad(2000.0, up=2, items=0, done=41)) == idle  # without work, that says nothing


def test_what_is_done_before_anyone_has_seen_the_worker_says_that_its_models_are_there() -> None:
    pace = Pace()
    pace.observe(WorkerLoad(0.0, up=0, items=10, done=0))
    assert pace.observe(WorkerLoad(1.0, up=1, items=9, done=1)) is None
    assert pace.observe(WorkerLoad(2.0, up=1, items=7, done=3)) == 2.0


def test_a_worker_that_has_done_nothing_for_a_while_is_no_faster_than_that() -> None:
    """Else ten that take an hour each would be left to one worker until two of them had ended."""
    pace = Pace()
    pace.observe(WorkerLoad(0.0, up=1, items=10, done=0))
    assert pace.observe(WorkerLoad(1.0, up=1, items=9, done=1)) is None
    assert pace.observe(WorkerLoad(2.0, up=1, items=9, done=1)) == 1.0
    assert pace.observe(WorkerLoad(11.0, up=1, items=9, done=1)) == pytest.approx(0.1, rel=0.03)
    assert pace.observe(WorkerLoad(12.0, up=1, items=8, done=2)) == pytest.approx(1 / 11, rel=0.03)


def test_what_is_only_known_to_be_no_faster_brings_workers_and_takes_none() -> None:
    scaler = Scaler(Scaling(max=10, drain_s=3600, settle_s=120))
    for at in range(0, 1200, 60):
        seen = WorkersSeen(float(at), 8, 9, float(at), 10, 0.5, 60.0, rate_is_bound=True)
        assert scaler.observe(seen).workers == 8
    slow = scaler.observe(WorkersSeen(1200.0, 8, 90, 1200.0, 100, 0.001, 60.0, rate_is_bound=True))
    assert slow == Desired(10, "at most 10; 90 items, 2.4e+03 s left, a worker does at most 0.001 a second")
    few = [scaler.observe(WorkersSeen(at, 10, 3, 0.0, 100, 0.5, 60.0, rate_is_bound=True)) for at in (1300.0, 1450.0)]
    assert few[-1].workers == 3, "more than there are items have nothing to do"
    assert scaler.observe(WorkersSeen(4000.0, 10, 0, 0.0, 100, 0.001, 60.0, rate_is_bound=True)).workers == 0
