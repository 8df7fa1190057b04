"""Who waits for whom: cycles and chains, on graphs of any size."""

import random

from hypothesis import given
from hypothesis import strategies as st

from manyhands.core.graph import chain_lengths, cycles, dependents_of, find_cycle

graphs = st.dictionaries(
    st.integers(0, 12).map(str), st.lists(st.integers(0, 12).map(str), max_size=4, unique=True), max_size=12
)


def is_acyclic(needs: dict[str, list[str]]) -> bool:
    """The long way: take away what needs nothing that is left, until nothing is or nothing can be."""
    left = set(needs)
    while ready := {task for task in left if not any(need in left for need in needs[task])}:
        left -= ready
    return not left


def test_a_chain_has_no_cycle_and_a_ring_is_one() -> None:
    assert find_cycle({"a": ["b"], "b": ["c"], "c": []}) is None
    assert find_cycle({"a": ["b"], "b": ["c"], "c": ["a"]}) == ["a", "b", "c"]
    assert find_cycle({"x": ["a"], "a": ["b"], "b": ["a"]}) == ["a", "b"]
    assert find_cycle({"a": ["a"]}) == ["a"]
    assert find_cycle({"a": ["unknown"]}) is None
    assert find_cycle({}) is None


@given(needs=graphs)
def test_a_cycle_is_found_where_there_is_one_and_it_is_one(needs: dict[str, list[str]]) -> None:
    found = list(cycles(needs))
    assert bool(found) == (not is_acyclic(needs))
    seen: set[str] = set()
    for cycle in found:
        assert seen.isdisjoint(cycle)
        seen.update(cycle)
        for task, need in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            assert need in needs[task]


def test_a_long_chain_and_many_ways_back_are_walked_once() -> None:
    size = 50_000
    needs = {str(n): [str(n + 1)] for n in range(size)}
    assert find_cycle(needs) is None
    assert chain_lengths(needs)["0"] == size + 1
    back = {str(n): [str(n + 1), "0"] for n in range(size)}
    assert sum(len(cycle) for cycle in cycles(back)) <= size


@given(needs=graphs)
def test_chain_lengths_are_one_more_than_the_longest_of_the_needs(needs: dict[str, list[str]]) -> None:
    lengths = chain_lengths(needs)
    for task, length in lengths.items():
        assert length == 1 + max((lengths[need] for need in needs.get(task, ())), default=0)
    if is_acyclic(needs):
        assert lengths.keys() == {*needs, *(need for its_needs in needs.values() for need in its_needs)}


def test_of_the_dependents_it_is_the_chain_that_waits() -> None:
    needs = {"b": ["a"], "c": ["b"], "d": ["a"]}
    assert chain_lengths(dependents_of(needs)) == {"c": 1, "d": 1, "b": 2, "a": 3}


def test_the_answer_depends_on_the_order_of_the_mapping_alone() -> None:
    edges = [(str(n), str(random.Random(n).randrange(50))) for n in range(50)]
    needs: dict[str, list[str]] = {}
    for task, need in edges:
        needs.setdefault(task, []).append(need)
    assert list(cycles(needs)) == list(cycles(dict(needs.items())))
