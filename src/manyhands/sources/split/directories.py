"""Makes leaves by directory, from the deepest up: what fills a leaf becomes one, and the rest goes up a level."""

from itertools import chain

from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.even_runs import even_runs

#: A group below this share of the budget waits to be joined with groups from directories around it.
_SMALL = 0.6


def directory_groups(files: UnitGroup, paths: tuple[str, ...], tokens: list[int], budget: int) -> list[UnitGroup]:
    """The groups; an empty list if all files are in one directory."""
    left: dict[str, list[UnitGroup]] = {}  # directory → what it still has to place, in the order of paths
    for i in files:
        left.setdefault(paths[i].rpartition("/")[0], []).append([i])
    if len(left) < 2:
        return []
    leaves: list[UnitGroup] = []
    for folder in _deepest_first(left):
        groups = sorted(left.pop(folder, []), key=min)
        placed, over = _place(groups, tokens, budget, is_top=not folder)
        leaves.extend(placed)
        if over:
            left.setdefault(folder.rpartition("/")[0], []).extend(over)
    return leaves


def _deepest_first(folders: dict[str, list[UnitGroup]]) -> list[str]:
    everything = {""}
    for folder in folders:
        while folder and folder not in everything:
            everything.add(folder)
            folder = folder.rpartition("/")[0]
    return sorted(everything, key=lambda folder: (-folder.count("/") if folder else 1, folder))


def _place(
    groups: list[UnitGroup], tokens: list[int], budget: int, is_top: bool
) -> tuple[list[UnitGroup], list[UnitGroup]]:
    """The groups that become leaves here, and the rest. A directory that fits stays whole."""
    sizes = [sum(tokens[i] for i in group) for group in groups]
    if sum(sizes) <= budget:
        runs = [groups] if groups else []
    else:
        runs = even_runs(groups, sizes, budget)
    leaves: list[UnitGroup] = []
    over: list[UnitGroup] = []
    for run in runs:
        group = sorted(chain.from_iterable(run))
        size = sum(tokens[i] for i in group)
        (leaves if is_top or size >= _SMALL * budget else over).append(group)
    return leaves, over
