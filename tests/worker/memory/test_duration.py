"""The duration of batches is learned from those that ran."""

import random

import pytest

from manyhands.worker.memory.duration import BatchDuration
from manyhands.worker.values.planner_values import Growth


def test_the_curve_is_found_from_a_wrong_guess() -> None:
    chance, truth = random.Random(1), Growth(0.0057, 0.000165, 1e-7)
    duration = BatchDuration(Growth(0.001, 0.001))
    for _ in range(200):
        count, length = chance.randint(1, 40), chance.randint(4, 512)
        duration.learn(count, length, truth.of(count, length) * chance.uniform(0.9, 1.1))
    for count, length in [(1, 16), (32, 64), (8, 512)]:
        assert duration.growth.of(count, length) == pytest.approx(truth.of(count, length), rel=0.15)


def test_the_first_batch_already_scales_the_guess() -> None:
    duration = BatchDuration(Growth(0.001, 0.0001))
    duration.learn(10, 100, 10 * Growth(0.001, 0.0001).of(10, 100))
    assert duration.growth == pytest.approx(Growth(0.01, 0.001)) or duration.growth.k1 == pytest.approx(0.001)


def test_tokens_always_cost_something() -> None:
    duration = BatchDuration(Growth(0.001, 0.0001))
    for count in range(1, 50):
        duration.learn(count, count, 0.5)
    assert duration.growth.of_item(100) > 0


def test_a_device_that_becomes_slower_is_noticed_though_the_curve_was_right_for_long() -> None:
    chance, truth = random.Random(2), Growth(0.0057, 0.000165)
    duration = BatchDuration(truth)
    for slower, batches in ((1.0, 600), (2.0, 300)):
        for _ in range(batches):
            count, length = chance.randint(1, 40), chance.randint(4, 512)
            duration.learn(count, length, slower * truth.of(count, length) * chance.uniform(0.95, 1.05))
        assert duration.growth.of(16, 64) == pytest.approx(slower * truth.of(16, 64), rel=0.2)
