"""How many model workers are wanted, in simulation: in time, within the budget, none when there is nothing to do."""

import random

from manyhands.executors.ray.scaling import Desired, Scaler, Scaling, Seen
from ray_host.worker_fleet import RATE, START_S, simulate

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
    wanted = Scaler(policy).observe(Seen(0, 3, 5000, 0, 5000, RATE, START_S))
    assert wanted == Desired(3, "8 an hour pays for 3 at 2.5 each")


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
