"""What a split cuts: imports and common changes that run from one subplan into another."""

import msgspec

from manyhands.sources.split.split_types import Source, Subplan, Tree
from manyhands.sources.split.tie_weights import dependency_ties


def leaf_of_file(nodes: tuple[Subplan, ...]) -> dict[str, str]:
    """File → its leaf. A file in pieces counts with its first piece."""
    leaf_of: dict[str, str] = {}
    for node in nodes:
        for file in node.files:
            leaf_of.setdefault(file, node.id)
    return leaf_of


def with_cuts(nodes: tuple[Subplan, ...], source: Source) -> tuple[Subplan, ...]:
    parent_of = {node.id: node.parent for node in nodes}
    leaf_of = leaf_of_file(nodes)
    held = dict.fromkeys(parent_of, 0)  # weight of ties inside the node
    cut = dict.fromkeys(parent_of, 0)  # the part of it between its children
    ways: dict[str, list[str]] = {}
    for (a, b), weight in dependency_ties(source).items():
        one = _way_up(leaf_of[source.paths[a]], parent_of, ways)
        other = set(_way_up(leaf_of[source.paths[b]], parent_of, ways))
        shared = [id for id in one if id in other]
        for id in shared:
            held[id] += weight
        if shared[0] != one[0] or len(shared) != len(other):
            cut[shared[0]] += weight
    return tuple(
        msgspec.structs.replace(node, cut=round(cut[node.id] / held[node.id], 4) if held[node.id] else 0.0)
        for node in nodes
    )


def _way_up(leaf: str, parent_of: dict[str, str | None], ways: dict[str, list[str]]) -> list[str]:
    if leaf not in ways:
        way, at = [], leaf
        while True:
            way.append(at)
            above = parent_of[at]
            if above is None:
                break
            at = above
        ways[leaf] = way
    return ways[leaf]


def cut_between_leaves(tree: Tree, source: Source) -> list[tuple[str, str, int]]:
    """Pairs of leaves with the weight of the ties between them, heaviest first."""
    leaf_of = leaf_of_file(tree.nodes)
    between: dict[tuple[str, str], int] = {}
    for (a, b), weight in dependency_ties(source).items():
        one, other = sorted((leaf_of[source.paths[a]], leaf_of[source.paths[b]]))
        if one != other:
            between[one, other] = between.get((one, other), 0) + weight
    return sorted(((*pair, weight) for pair, weight in between.items()), key=lambda tie: (-tie[2], tie[0], tie[1]))
