"""Finds the files outside a leaf with the strongest ties to it: whoever works on the leaf should know them."""

from typing import NamedTuple

from manyhands.sources.split.cuts import leaf_of_file
from manyhands.sources.split.split_types import Source, Tree
from manyhands.sources.split.tie_weights import dependency_ties

NEIGHBOURS_MAX = 12


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
