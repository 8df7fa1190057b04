"""Figures that describe a tree."""

import math
import statistics

from msgspec import Struct

from manyhands.sources.split.split_types import Source, Tree


class SplitFigures(Struct, frozen=True):
    files: int
    tokens: int
    leaves: int
    leaves_min: int  # the number of leaves if every leaf were full
    depth: int  # of the deepest leaf; the root is at 0
    size_cv: float  # standard deviation of leaf sizes over their mean
    in_band: float  # share of leaves between a quarter of the budget and the budget
    over_budget: int  # number of leaves over the budget


def figures_of(tree: Tree) -> SplitFigures:
    sizes = [leaf.tokens for leaf in tree.leaves()]
    budget = tree.settings.budget_tokens
    mean = statistics.fmean(sizes)
    return SplitFigures(
        files=len({file for leaf in tree.leaves() for file in leaf.files}),
        tokens=sum(sizes),
        leaves=len(sizes),
        leaves_min=max(1, math.ceil(sum(sizes) / budget)),
        depth=max(leaf.depth for leaf in tree.leaves()),
        size_cv=round(statistics.pstdev(sizes) / mean, 4) if mean else 0.0,
        in_band=round(sum(budget / 4 <= size <= budget for size in sizes) / len(sizes), 4),
        over_budget=sum(size > budget for size in sizes),
    )


def inside_one_leaf(tree: Tree, commits: list[list[str]]) -> float:
    """The share of commits whose files are all in one leaf: how often a change stays within a subplan."""
    leaf_of = {file: leaf.id for leaf in tree.leaves() for file in leaf.files}
    return sum(len({leaf_of[file] for file in commit}) == 1 for commit in commits) / len(commits)


def moved_files(before: Tree, after: Tree, source: Source) -> float:
    """The share of files that changed their leaf. Leaves of both trees are paired by their common files."""
    old = {file: leaf.id for leaf in before.leaves() for file in leaf.files}
    new = {file: leaf.id for leaf in after.leaves() for file in leaf.files}
    common: dict[tuple[str, str], int] = {}
    for path in source.paths:
        pair = old[path], new[path]
        common[pair] = common.get(pair, 0) + 1
    stayed, paired_old, paired_new = 0, set(), set()
    for (one, other), count in sorted(common.items(), key=lambda entry: (-entry[1], entry[0])):
        if one not in paired_old and other not in paired_new:
            paired_old.add(one)
            paired_new.add(other)
            stayed += count
    return 1 - stayed / len(source.paths)
