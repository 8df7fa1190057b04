"""Finds the files outside a leaf with the strongest ties to it: whoever works on the leaf should know them."""

import re
from typing import NamedTuple

from manyhands.sources.split.cuts import leaf_of_file
from manyhands.sources.split.split_types import Source, Tree
from manyhands.sources.split.tie_weights import dependency_ties

NEIGHBOURS_MAX = 12
TESTS_MAX = 12
#: How the files of tests are named in most languages: `test_x.py`, `x_test.go`, `x.spec.ts`, `XTest.java`.
_TEST = re.compile(r"(^|/)test_[^/]*$|(^|/)[^/]*([_.-](test|spec)s?|Tests?)\.[a-z]+$")


class Neighbour(NamedTuple):
    file: str
    leaf: str
    weight: int


def neighbours_of_leaves(tree: Tree, source: Source, most: int = NEIGHBOURS_MAX) -> dict[str, list[Neighbour]]:
    """Leaf → its closest outside files, closest first. Every piece of a file has the neighbours of the whole."""
    leaves_of: dict[str, list[str]] = {}
    for leaf in tree.leaves():
        for file in leaf.files:
            leaves_of.setdefault(file, []).append(leaf.id)
    home = leaf_of_file(tree.nodes)
    weight_of: dict[str, dict[str, int]] = {}
    for (a, b), weight in dependency_ties(source).items():
        for inside, outside in ((source.paths[a], source.paths[b]), (source.paths[b], source.paths[a])):
            for id in leaves_of[inside]:
                if id not in leaves_of[outside]:
                    near = weight_of.setdefault(id, {})
                    near[outside] = near.get(outside, 0) + weight
    return {
        leaf: [
            Neighbour(file, home[file], weight)
            for file, weight in sorted(near.items(), key=lambda tie: (-tie[1], tie[0]))[:most]
        ]
        for leaf, near in weight_of.items()
    }


def is_test(path: str) -> bool:
    return _TEST.search(path) is not None


def tests_of_leaves(tree: Tree, source: Source) -> dict[str, list[str]]:
    """Leaf → the tests that are tied to it, its own first, then those outside, closest first."""
    near = neighbours_of_leaves(tree, source, most=len(source.paths))
    tests: dict[str, list[str]] = {}
    for leaf in tree.leaves():
        files = [*leaf.files, *(each.file for each in near.get(leaf.id, ()))]
        tests[leaf.id] = [file for file in files if is_test(file)][:TESTS_MAX]
    return tests
