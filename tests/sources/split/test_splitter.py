import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyhands.sources.split.split_types import node_id
from manyhands.sources.split.splitting import split
from sources.split.trees import a_source, budget, is_sound, leaf_files


def test_what_fits_is_one_leaf():
    tree = split(a_source({"a.py": 400, "b.py": 400}), budget(200))
    assert [node.files for node in tree.nodes] == [("a.py", "b.py")]
    assert tree.nodes[0].reason == "fits: 200 of 200 tokens"


def test_a_source_and_its_test_that_change_together_share_a_leaf_across_directories():
    sizes = {f"{place}/{name}.py": 400 for place in ("src", "tests") for name in ("ant", "bee", "cat", "dog")}
    commits = [[f"src/{name}.py", f"tests/{name}.py"] for name in ("ant", "bee", "cat", "dog")] * 3
    source = a_source(sizes, commits=commits)
    tree = split(source, budget(200))
    is_sound(tree, source)
    assert leaf_files(tree) == {frozenset({f"src/{n}.py", f"tests/{n}.py"}) for n in ("ant", "bee", "cat", "dog")}
    assert {node.strategy for node in tree.nodes if node.children} == {"affinity"}


def test_without_ties_directories_decide():
    source = a_source({f"{place}/{i}.txt": 400 for place in "abc" for i in range(2)})
    tree = split(source, budget(200))
    is_sound(tree, source)
    assert tree.nodes[0].strategy == "directory"
    assert leaf_files(tree) == {frozenset({f"{place}/0.txt", f"{place}/1.txt"}) for place in "abc"}


def test_a_flat_directory_without_ties_is_cut_into_even_chunks():
    source = a_source({f"{i:04}.txt": 400 for i in range(5000)})
    tree = split(source, budget(10_000))
    is_sound(tree, source)
    sizes = [leaf.tokens for leaf in tree.leaves()]
    assert (len(sizes), min(sizes), max(sizes)) == (50, 10_000, 10_000)
    assert {node.strategy for node in tree.nodes if node.children} == {"chunks"}
    assert max(leaf.depth for leaf in tree.leaves()) <= 5


def test_a_split_that_leaves_nearly_all_in_one_child_does_not_count():
    source = a_source({"large.py": 96_000, "small.py": 4_000}, imports=[("small.py", "large.py")])
    tree = split(source, budget(20_000))
    is_sound(tree, source)
    assert len(tree.nodes) == 1
    assert tree.nodes[0].reason == (
        "no_progress: affinity leaves 96% in one part, over 90%; directory finds no parts;"
        " chunks leaves 96% in one part, over 90%"
    )


def test_an_even_split_of_two_files_counts():
    tree = split(a_source({"one.py": 60_000, "other.py": 40_000}), budget(20_000))
    assert leaf_files(tree) == {frozenset({"one.py"}), frozenset({"other.py"})}


def test_when_everything_imports_everything_the_tree_is_still_balanced():
    names = [f"{i:03}.py" for i in range(120)]
    source = a_source(dict.fromkeys(names, 4_000), imports=[(a, b) for a in names for b in names if a != b])
    tree = split(source, budget(10_000))
    is_sound(tree, source)
    assert len(list(tree.leaves())) <= 1.25 * 12


def test_max_depth_is_kept_and_leaves_still_fit_where_one_level_is_left():
    source = a_source({f"{a}/{b}/{i}.txt": 4_000 for a in "abcdef" for b in "xyz" for i in range(8)})
    for depth in (1, 2, 3):
        tree = split(source, budget(5_000, max_depth=depth))
        is_sound(tree, source)
        assert max(leaf.depth for leaf in tree.leaves()) <= depth
        assert max(leaf.tokens for leaf in tree.leaves()) <= 5_000
    tree = split(source, budget(5_000, max_depth=0))
    assert [node.reason.split(":")[0] for node in tree.nodes] == ["max_depth"]


@pytest.mark.parametrize("tied", [True, False])
def test_a_project_of_forty_files_in_three_levels_stays_flat(tied: bool):
    paths = [f"{a}/{b}/{c}{i}.py" for a in "ab" for b in "cd" for c in "ef" for i in range(5)]
    imports = list(itertools.pairwise(paths)) if tied else []
    source = a_source(dict.fromkeys(paths, 40_000), imports)
    tree = split(source, budget(20_000))
    is_sound(tree, source)
    assert len(list(tree.leaves())) >= 20
    assert max(node.depth for node in tree.nodes) <= 2


def test_ids_come_from_the_files_alone():
    tree = split(a_source({"b/x.py": 400, "a/y.py": 4, "a/z.py": 400}), budget(150))
    for leaf in tree.leaves():
        assert leaf.id == node_id(leaf.files)
    assert tree.root == node_id(["a/y.py", "a/z.py", "b/x.py"])


def test_files_of_no_size_find_a_place():
    sizes = {f"{place}/{name}.py": size for place in "abcd" for name, size in (("__init__", 0), ("code", 4_000))}
    source = a_source(sizes)
    tree = split(source, budget(1_000))
    is_sound(tree, source)
    assert len(list(tree.leaves())) == 4


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b", "c", "d.py", "e.py"]), min_size=1, max_size=4).map("/".join),
        st.integers(0, 50_000),
        min_size=1,
        max_size=40,
    ),
    st.data(),
)
def test_any_source_becomes_a_sound_tree(size_of, data):
    names = sorted(size_of)
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names))
    imports = data.draw(st.lists(pair, max_size=30))
    commits = data.draw(st.lists(st.lists(st.sampled_from(names), max_size=5), max_size=10))
    chosen = budget(data.draw(st.integers(1, 12_000)), max_depth=data.draw(st.integers(0, 6)))
    source = a_source(size_of, imports, commits)
    tree = split(source, chosen)
    is_sound(tree, source)
    assert {file for leaf in tree.leaves() for file in leaf.files} == set(names)
