"""How strongly files are tied: imports, changes made together, and, weakly, being in one directory.

Weights are integers, so that a sum never depends on the order of its terms.
"""

import math
from itertools import combinations

from manyhands.sources.split.split_types import Source

Ties = dict[tuple[int, int], int]  # (lower, higher position) → weight

_SCALE = 1_000_000
_IMPORT, _CHANGE, _DIRECTORY = 1.0, 2.0, 0.3
#: A commit that touches more files is a rename or a reformat and says nothing about what belongs together.
COMMIT_FILES_MAX = 25
#: A single common change may be chance.
_ONE_CHANGE = 0.5
#: In a large directory only neighbours by name are tied: all pairs would be millions.
_DIRECTORY_PAIRS_MAX = 40
_NAME_NEIGHBOURS = 8


def static_ties(source: Source) -> Ties:
    """Ties that new commits do not change: imports and directories."""
    ties: Ties = {}
    _add_imports(source, ties)
    _add_directories(source, ties, 1.0)
    return ties


def dependency_ties(source: Source) -> Ties:
    """Only imports and common changes: the cost of separating files."""
    ties: Ties = {}
    _add_imports(source, ties)
    _add_changes(source, ties)
    return ties


def all_ties(source: Source) -> Ties:
    ties = dependency_ties(source)
    _add_directories(source, ties, _DIRECTORY)
    return ties


def _add(ties: Ties, a: int, b: int, weight: float) -> None:
    tie = (a, b) if a < b else (b, a)
    ties[tie] = ties.get(tie, 0) + max(1, round(weight * _SCALE))


def _add_imports(source: Source, ties: Ties) -> None:
    importers = [0.0] * len(source.paths)
    for _, imported, share in source.imports:
        importers[imported] += share
    for importer, imported, share in source.imports:
        # Many files import a hub, so each of these imports says little.
        _add(ties, importer, imported, _IMPORT * share / (1 + math.log1p(importers[imported])))


def _add_changes(source: Source, ties: Ties) -> None:
    together: dict[tuple[int, int], int] = {}
    times: dict[tuple[int, int], int] = {}
    for commit in source.commits:
        if 2 <= len(commit) <= COMMIT_FILES_MAX:
            weight = round(_CHANGE * _SCALE / (len(commit) - 1))
            for pair in combinations(commit, 2):
                together[pair] = together.get(pair, 0) + weight
                times[pair] = times.get(pair, 0) + 1
    for pair, weight in together.items():
        ties[pair] = ties.get(pair, 0) + (weight if times[pair] > 1 else round(weight * _ONE_CHANGE))


def _add_directories(source: Source, ties: Ties, strength: float) -> None:
    inside: dict[str, list[int]] = {}
    for i, path in enumerate(source.paths):
        inside.setdefault(path.rpartition("/")[0], []).append(i)
    for members in inside.values():
        n = len(members)
        if n <= _DIRECTORY_PAIRS_MAX:
            for a, b in combinations(members, 2):
                _add(ties, a, b, strength / (n - 1))
        else:
            for i, a in enumerate(members):
                for b in members[i + 1 : i + 1 + _NAME_NEIGHBOURS]:
                    _add(ties, a, b, strength / (2 * _NAME_NEIGHBOURS))
