"""Which arm goes first: drawn from the seed, balanced, and the same again."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.evals.specs import a_spec
from manyhands.apps.evals.spec.ordering import Trial, Unit, units_of


def places(units: list[Unit]) -> Counter[tuple[str, int]]:
    """(arm, place) → how often."""
    return Counter((trial.arm, place) for unit in units for place, trial in enumerate(unit.trials))


@given(st.integers(2, 4), st.integers(1, 6), st.integers(1, 9), st.integers(0, 1000))
def test_every_trial_is_there_once_and_every_arm_has_every_place_about_equally_often(
    arms: int, cases: int, replications: int, seed: int
) -> None:
    spec = a_spec(arms, cases, replications, seed=seed)
    units = units_of(spec)
    trials = [trial for unit in units for trial in unit.trials]
    assert len(set(trials)) == len(trials) == arms * cases * replications
    counts = places(units)
    often = [counts[arm.name, place] for arm in spec.arms for place in range(arms)]
    assert max(often) - min(often) <= 1
    for case in spec.cases:
        of_case = places([unit for unit in units if unit.trials[0].case == case.name])
        of_each = [of_case[arm.name, place] for arm in spec.arms for place in range(arms)]
        assert max(of_each) - min(of_each) <= 1


def test_the_same_seed_draws_the_same_order_and_another_seed_another() -> None:
    spec = a_spec(2, 10, 4, seed=1)
    assert units_of(spec) == units_of(spec)
    assert units_of(spec) != units_of(a_spec(2, 10, 4, seed=2))


def test_the_draw_is_a_draw() -> None:
    """Over seeds, the first arm of the first unit is either one about equally often."""
    first = Counter(units_of(a_spec(2, 3, 4, seed=seed))[0].trials[0].arm for seed in range(400))
    assert 150 < first["a"] < 250


def test_a_strict_swap_alternates_over_replications_and_over_cases() -> None:
    units = units_of(a_spec(2, 2, 2, order="swap"))
    assert [[trial.arm for trial in unit.trials] for unit in units] == [["a", "b"], ["b", "a"], ["b", "a"], ["a", "b"]]


def test_without_interleaving_one_arm_follows_the_other() -> None:
    units = units_of(a_spec(2, 2, 1, interleave=False))
    assert [unit.trials for unit in units] == [
        (Trial("a", "c0", 1),),
        (Trial("a", "c1", 1),),
        (Trial("b", "c0", 1),),
        (Trial("b", "c1", 1),),
    ]


@pytest.mark.parametrize("order", ["drawn", "swap"])
def test_replications_come_one_after_the_other(order: str) -> None:
    units = units_of(a_spec(2, 3, 3, order=order))
    assert [unit.trials[0].replication for unit in units] == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_an_eval_that_may_stop_when_it_is_decided_goes_case_by_case() -> None:
    units = units_of(a_spec(2, 3, 2, stop_when_decided=True))
    assert [unit.trials[0].case for unit in units] == ["c0", "c0", "c1", "c1", "c2", "c2"]
