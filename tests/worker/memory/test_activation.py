"""Memory learned from noisy, rounded peaks in random order. Predictions are never too low and not much too high."""

import os
import random
from statistics import median

import pytest

from manyhands.worker.memory.activation import ActivationMemory
from manyhands.worker.memory.prior import activation_of
from manyhands.worker.values.planner_values import Growth

MIB = 2**20
MODELS = 2000 if os.environ.get("MANYHANDS_SOAK") else 60


def a_model(chance: random.Random) -> Growth:
    square = chance.choice([0.0, 1.0, 1.0]) * 10 ** chance.uniform(1, 3)
    return Growth(chance.choice([0, 5, 40]) * MIB * chance.random(), 10 ** chance.uniform(4, 5.5), square)


def peak_of(truth: Growth, count: int, length: int, chance: random.Random) -> int:
    """A peak that varies by 5 % either way and is rounded to blocks of 2 MiB."""
    blocks = truth.of(count, length) * chance.uniform(0.95, 1.05) / (2 * MIB)
    return max(1, -int(-blocks // 1)) * 2 * MIB


def run_batches(seed: int, batches: int = 100) -> list[float]:
    """The ratio of the prediction to what was really taken, for each batch from the first on."""
    chance = random.Random(seed)
    truth = a_model(chance)
    memory = ActivationMemory(Growth(2 * truth.k0 + 20 * MIB, 3 * truth.k1, 3 * truth.k2 + 100))
    ratios = []
    for _ in range(batches):
        length = min(512, int(chance.lognormvariate(3.9, 1.1)) + 3)
        fitting = memory.count_max(length, chance.choice([1, 2, 4]) * 1024 * MIB, enough=1000)
        count = max(1, min(fitting, chance.choice([1, 8, 64, 256, 1000])))
        peak = peak_of(truth, count, length, chance)
        ratios.append(memory.bytes_of(count, length) / peak)
        memory.learn(count, length, peak)
    return ratios


@pytest.mark.slow
def test_no_batch_takes_more_than_was_said_and_what_is_said_is_close() -> None:
    overshoots = []
    for seed in range(MODELS):
        ratios = run_batches(seed)
        assert min(ratios) >= 1.0, f"seed {seed}"
        overshoots.append(median(ratios))
    assert median(overshoots) <= 1.25
    assert max(overshoots) <= 1.45


@pytest.mark.parametrize("seed", [647, 5460, 5692])
def test_an_item_longer_than_any_seen_is_not_taken_for_a_short_one(seed: int) -> None:
    """Curves fitted to short items alone predict up to 23 % too little for the first long one."""
    assert min(run_batches(seed)) >= 1.0


def test_a_term_that_only_long_items_show_is_not_missed() -> None:
    """Measured at one length only, n·L and n·L² explain the peaks equally well. The higher prediction must count."""
    truth = Growth(0.0, 0.0, 1000.0)
    memory = ActivationMemory(Growth(0.0, 1e6, 1e6))
    for count in range(1, 40):
        memory.learn(count, 64, int(truth.of(count, 64)) + 1)
    assert memory.bytes_of(1, 512) >= truth.of(1, 512)
    assert memory.bytes_of(40, 200) >= truth.of(40, 200)


def test_how_many_fit_takes_no_more_than_the_room() -> None:
    chance = random.Random(5)
    for _ in range(100):
        truth = a_model(chance)
        memory = ActivationMemory(Growth(2 * truth.k0, 2 * truth.k1, 2 * truth.k2))
        for _ in range(chance.randint(0, 12)):
            count, length = chance.randint(1, 99), chance.randint(1, 512)
            memory.learn(count, length, int(truth.of(count, length)))
        for _ in range(10):
            length, room = chance.randint(1, 600), 10 ** chance.uniform(5, 10)
            count = memory.count_max(length, room, enough=10**9)
            assert count == 0 or memory.bytes_of(count, length) <= room


def test_a_batch_in_memory_that_was_held_already_teaches_nothing() -> None:
    memory = ActivationMemory(Growth(0.0, 1e6))
    memory.learn(10, 100, 500 * MIB)
    said = memory.bytes_of(10, 100)
    memory.learn(10, 100, 0)
    memory.learn(10, 100, MIB)
    assert memory.bytes_of(10, 100) == said


def test_a_guess_that_was_too_low_is_raised() -> None:
    memory = ActivationMemory(Growth(0.0, 1000.0))
    memory.learn(1, 100, 100 * MIB)
    assert memory.bytes_of(1, 100) >= 100 * MIB
    assert memory.bytes_of(2, 100) >= 200 * MIB


def test_what_was_learned_is_the_same_after_a_restart() -> None:
    chance = random.Random(3)
    truth = a_model(chance)
    memory = ActivationMemory(Growth(0.0, 1e6))
    for _ in range(40):
        count, length = chance.randint(1, 99), chance.randint(1, 512)
        memory.learn(count, length, peak_of(truth, count, length, chance))
    again = ActivationMemory(Growth(0.0, 1e6), memory.seen())
    assert again.bytes_of(16, 128) == pytest.approx(memory.bytes_of(16, 128), rel=0.02)


def test_the_guess_from_a_configuration_is_of_the_right_size() -> None:
    minilm = activation_of(hidden=384, intermediate=1536, heads=12)
    assert 10 * MIB < minilm.of(32, 64) < 200 * MIB


def test_what_was_seen_before_changes_nothing_that_is_said() -> None:
    memory = ActivationMemory(Growth(0.0, 1e6))
    memory.learn(10, 100, 500 * MIB)
    said = memory.revision
    for _ in range(50):
        memory.learn(10, 100, 500 * MIB)
        memory.learn(10, 100, 490 * MIB)
    assert memory.revision == said
