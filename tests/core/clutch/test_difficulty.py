"""Lanes: easy takes the host's width, moderate half, hard one at a time, unknown one and then explores."""

from random import Random

import msgspec
import pytest

from manyhands.core.clutch.difficulty import Difficulty, faded
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.widths import Sample


def ended(ending: EndingKind, kind: str = "code", width: int = 8) -> Sample:
    return Sample(10.0, 0.0, 1, kind, 4, width, ending, tokens_out=100)


def after(success: float, attempts: int, seed: int = 3) -> Difficulty:
    difficulty, random = Difficulty(), Random(seed)
    for _ in range(attempts):
        done = random.random() < success
        difficulty.observe(ended(EndingKind.DONE if done else EndingKind.FAILED))
    return difficulty


@pytest.mark.parametrize(("success", "lane", "level"), [(0.98, 16, "easy"), (0.68, 8, "moderate"), (0.15, 1, "hard")])
def test_with_much_data_three_levels_remain(success: float, lane: int, level: str) -> None:
    width, reason = after(success, 300).lane_width("code", 16)
    assert width == lane
    assert reason.startswith(f"{level}: ")


def test_an_unknown_kind_is_as_wide_as_its_host_until_it_fails() -> None:
    difficulty = Difficulty()
    widths = []
    for _ in range(4):
        widths.append(difficulty.lane_width("code", 16)[0])
        difficulty.observe(ended(EndingKind.FAILED))
    assert widths == [16, 8, 1, 1]


def test_successes_never_narrow_a_kind() -> None:
    difficulty = Difficulty()
    for _ in range(30):
        assert difficulty.lane_width("code", 16)[0] == 16
        difficulty.observe(ended(EndingKind.DONE))


def test_one_failure_among_few_does_not_condemn_a_kind() -> None:
    difficulty = after(1.0, 6)
    difficulty.observe(ended(EndingKind.FAILED))
    assert difficulty.lane_width("code", 16)[0] >= 8


def test_it_learns_mid_run_when_a_kind_turns_hard() -> None:
    difficulty = after(1.0, 100)
    for _ in range(40):
        difficulty.observe(ended(EndingKind.FAILED))
    assert difficulty.lane_width("code", 16)[0] == 1


@pytest.mark.parametrize("ending", [EndingKind.OVERLOADED, EndingKind.PREEMPTED, EndingKind.CANCELLED, EndingKind.LOST])
def test_endings_that_say_nothing_about_the_work_do_not_count(ending: EndingKind) -> None:
    difficulty = after(1.0, 50)
    before = difficulty.kinds["code"].success
    for _ in range(50):
        difficulty.observe(ended(ending))
    assert difficulty.kinds["code"].success == before
    assert difficulty.kinds["code"].attempts == 50


def test_the_widths_at_which_it_overloaded_are_kept() -> None:
    difficulty = Difficulty()
    difficulty.observe(ended(EndingKind.OVERLOADED, width=12))
    assert difficulty.kinds["code"].overload_widths == [12]


def test_kinds_do_not_ride_along() -> None:
    difficulty = after(1.0, 50)
    for _ in range(50):
        difficulty.observe(ended(EndingKind.FAILED, kind="proof"))
    assert difficulty.lane_width("code", 16)[0] == 16
    assert difficulty.lane_width("proof", 16)[0] == 1


def test_old_memory_weighs_less_and_survives_a_round_trip() -> None:
    difficulty = after(0.1, 100)
    old = faded(difficulty, days=90)
    assert old.kinds["code"].weight < 0.05 * difficulty.kinds["code"].weight
    assert msgspec.json.decode(msgspec.json.encode(difficulty), type=Difficulty) == difficulty
