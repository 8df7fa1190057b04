"""Quantiles lie between neighbours, in proportion."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyhands.quantiles import quantile


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert quantile([1.0, 2.0, 3.0], 0.5) == 2.0
    assert quantile([1.0, 2.0], 0.95) == pytest.approx(1.95)
    assert quantile([7.0], 0.95) == 7.0


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=50).map(sorted))
def test_quantiles_are_those_of_the_standard_library(ordered: list[float]) -> None:
    known = statistics.quantiles(ordered, n=20, method="inclusive")
    assert [quantile(ordered, place / 20) for place in range(1, 20)] == pytest.approx(known)
