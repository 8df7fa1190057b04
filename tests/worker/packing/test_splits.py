"""Compares the dynamic program with an exhaustive search."""

from hypothesis import given
from hypothesis import strategies as st

from manyhands.worker.packing.splits import cheapest_cuts


def cost_of(cuts: list[int], per_item: list[float], overhead: float) -> float:
    begins = [0, *cuts[:-1]]
    return sum(overhead + (end - begin) * per_item[end - 1] for begin, end in zip(begins, cuts, strict=True))


def cheapest_by_trying(per_item: list[float], overhead: float, count_max: list[int]) -> float:
    best = [0.0]
    for end in range(1, len(per_item) + 1):
        begins = range(max(0, end - count_max[end - 1]), end)
        best.append(min(best[begin] + overhead + (end - begin) * per_item[end - 1] for begin in begins))
    return best[-1]


@given(
    lengths=st.lists(st.integers(1, 512), min_size=1, max_size=60).map(sorted),
    overhead=st.sampled_from([0.0, 1.0, 8.0, 35.0, 5000.0]),
    square=st.sampled_from([0.0, 0.01]),
    tokens_max=st.sampled_from([1, 600, 4096, 10**6]),
    items_max=st.sampled_from([1, 3, 32, 1000]),
)
def test_no_other_way_to_cut_is_cheaper(
    lengths: list[int], overhead: float, square: float, tokens_max: int, items_max: int
) -> None:
    per_item = [length + square * length * length for length in lengths]
    count_max = [max(1, min(items_max, tokens_max // length)) for length in lengths]
    cuts = cheapest_cuts(per_item, overhead, count_max)
    assert cuts[-1] == len(lengths)
    begins = [0, *cuts[:-1]]
    assert all(0 < end - begin <= count_max[end - 1] for begin, end in zip(begins, cuts, strict=True))
    wanted = cheapest_by_trying(per_item, overhead, count_max)
    assert abs(cost_of(cuts, per_item, overhead) - wanted) <= 1e-9 * wanted


def test_nothing_is_cut_into_nothing() -> None:
    assert cheapest_cuts([], 1.0, []) == []


def test_equal_items_go_together_as_far_as_they_may() -> None:
    assert cheapest_cuts([10.0] * 7, 1.0, [3] * 7)[-1] == 7
    assert len(cheapest_cuts([10.0] * 7, 1.0, [3] * 7)) == 3


def test_a_long_item_stays_alone_among_short_ones() -> None:
    assert cheapest_cuts([5.0] * 10 + [500.0], 8.0, [100] * 11) == [10, 11]
