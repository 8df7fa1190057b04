"""After an edit only what it touched is split again; every other id stays."""

import itertools
from pathlib import Path

import msgspec
import pytest

from manyhands.errors import UsageError
from manyhands.sources.split.correction import correct
from manyhands.sources.split.split_types import Source, Tree
from manyhands.sources.split.splitting import split
from manyhands.sources.split.tree_file import read_tree, tree_as_json
from sources.split.trees import a_source, budget, is_sound, write_files

SETTINGS = budget(5_000)


def _sizes() -> dict[str, int]:
    return {f"{a}/{b}/{i}.py": 4_000 for a in "abcd" for b in "xyz" for i in range(6)}


def _source(sizes: dict[str, int]) -> Source:
    paths = sorted(sizes)
    ties = [(one, other) for one, other in itertools.pairwise(paths) if one[:3] == other[:3]]
    return a_source(sizes, imports=ties)


def _leaf_of(tree: Tree, file: str) -> str:
    return next(leaf.id for leaf in tree.leaves() if file in leaf.files)


@pytest.fixture
def tree() -> Tree:
    source = _source(_sizes())
    made = split(source, SETTINGS)
    is_sound(made, source)
    assert len(made.nodes) > 20
    return made


def test_nothing_changed_means_the_same_tree(tree: Tree):
    corrected = correct(tree, _source(_sizes()), SETTINGS)
    assert corrected.tree == tree
    assert (corrected.gone, corrected.new) == ((), ())


def test_a_new_file_joins_the_leaf_it_is_tied_to_and_only_that_leaf_is_new(tree: Tree):
    source = _source(_sizes() | {"a/x/new.py": 400})
    corrected = correct(tree, source, SETTINGS)
    is_sound(corrected.tree, source)
    assert len(corrected.gone) == 1
    gone = tree.by_id()[corrected.gone[0]]
    assert "a/x" in {file[:3] for file in gone.files}
    assert "a/x/new.py" in next(n for n in corrected.tree.leaves() if n.id in corrected.new and n.files).files


def test_a_file_that_outgrows_its_leaf_splits_that_leaf_alone(tree: Tree):
    sizes = _sizes() | {"b/y/3.py": 18_000}
    corrected = correct(tree, _source(sizes), SETTINGS)
    is_sound(corrected.tree, _source(sizes))
    before = _leaf_of(tree, "b/y/3.py")
    kept = {node.id for node in corrected.tree.nodes}
    assert {node.id for node in tree.nodes} - kept <= {before}
    assert max(leaf.tokens for leaf in corrected.tree.leaves()) <= 5_000


def test_removed_files_leave_their_siblings_alone(tree: Tree):
    gone_leaf = tree.by_id()[_leaf_of(tree, "c/z/0.py")]
    sizes = {path: size for path, size in _sizes().items() if path not in gone_leaf.files}
    corrected = correct(tree, _source(sizes), SETTINGS)
    assert corrected.new == ()
    assert gone_leaf.id in corrected.gone
    # A node with one child left is dropped: the child takes its place.
    assert len(corrected.gone) <= 2
    assert sorted(file for leaf in corrected.tree.leaves() for file in leaf.files) == sorted(sizes)


def test_a_file_moved_by_hand_stays_where_it_was_put(tree: Tree, tmp_path: Path):
    document = msgspec.json.decode(tree_as_json(tree))
    leaves = [node for node in document["nodes"] if not node["children"]]
    moved = leaves[0]["files"].pop()
    leaves[-1]["files"] = [*leaves[-1]["files"][:-2], moved]
    dropped = set(tree.by_id()[leaves[-1]["id"]].files) - set(leaves[-1]["files"])
    file = tmp_path / "tree.json"
    file.write_bytes(msgspec.json.encode(document))
    sizes = {path: size for path, size in _sizes().items() if path not in dropped}
    corrected = correct(read_tree(file), _source(sizes), SETTINGS)
    assert set(corrected.gone) == {leaves[0]["id"], leaves[-1]["id"]}
    companions = next(leaf.files for leaf in corrected.tree.leaves() if moved in leaf.files)
    assert companions == tuple(sorted(leaves[-1]["files"]))


def test_a_named_subplan_is_split_again_with_other_settings_and_keeps_its_id(tree: Tree):
    source = _source(_sizes())
    chosen = tree.nodes[1]
    assert chosen.children
    corrected = correct(tree, source, budget(5_000, max_depth=2), again=(chosen.id,))
    nodes = corrected.tree.by_id()
    assert nodes[chosen.id].tokens == chosen.tokens
    assert max(nodes[child].depth for child in nodes[chosen.id].children) == 2
    assert all(not nodes[child].children for child in nodes[chosen.id].children)
    below = {node.id for node in tree.nodes if node.parent == chosen.id or node.id == chosen.id}
    assert set(tree.nodes[0].children) <= set(nodes), below


def test_pieces_of_a_file_whose_lines_did_not_move_keep_their_ids(tmp_path: Path):
    from manyhands.sources.split.directory_source import read_directory

    function = "def f{}():\n" + "    x = 'some text'\n" * 40 + "\n\n"
    text = "".join(function.format(i) for i in range(60))
    write_files(tmp_path, {"large.py": text, "other.py": "x = 1\n"})
    code = read_directory(tmp_path)
    tree = split(code.source, budget(3_000), code.read)
    assert any(leaf.ranges for leaf in tree.leaves())
    again = correct(tree, code.source, budget(3_000), code.read)
    assert again.tree.nodes == tree.nodes
    write_files(tmp_path, {"large.py": "x = 1\n"})
    code = read_directory(tmp_path)
    smaller = correct(tree, code.source, budget(3_000), code.read).tree
    assert not any(leaf.ranges for leaf in smaller.leaves())


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda d: d["nodes"][0]["children"].append("s-none"), "the child `s-none` is not among the nodes"),
        (lambda d: d["nodes"][0]["children"].append(d["nodes"][0]["children"][0]), "is the child of two nodes"),
        (lambda d: d["nodes"][0]["children"].pop(), "is not the child of any node"),
        (lambda d: d["nodes"][-1]["files"].append(_sizes_first()), "is in `"),
        (lambda d: d.update(root="s0"), "the root `s0` is not among the nodes"),
        (lambda d: d["nodes"][0].pop("id"), "is not a tree"),
    ],
)
def test_an_edit_that_breaks_the_tree_is_refused_by_name(tree: Tree, tmp_path: Path, edit, said: str):
    document = msgspec.json.decode(tree_as_json(tree))
    edit(document)
    file = tmp_path / "tree.json"
    file.write_bytes(msgspec.json.encode(document))
    with pytest.raises(UsageError) as refused:
        read_tree(file)
    assert said in refused.value.message


def _sizes_first() -> str:
    return min(_sizes())


def test_an_unknown_subplan_is_refused(tree: Tree):
    with pytest.raises(UsageError, match="no subplan `s1`"):
        correct(tree, _source(_sizes()), SETTINGS, again=("s1",))
