"""Puts leaf-sized groups under larger ones, level by level, until a few remain for the root."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

from manyhands.sources.split.agglomeration import UnitGroup, agglomerate
from manyhands.sources.split.even_runs import runs_within
from manyhands.sources.split.packing import pack
from manyhands.sources.split.split_types import Source
from manyhands.sources.split.tie_weights import Ties

#: Each level up is this much larger. This gives about three children a node, and 4 to 8 levels for 2 to 100 million
#: tokens.
_GROWTH = 3
#: A tree this small is easy to see. Levels between the root and the leaves would only hide it.
_SMALL_PROJECT_FILES = 50
#: A split counts only if its largest child is at most this share of the whole.
PROGRESS_MAX = 0.9


@dataclass(frozen=True)
class Part:
    """A set of files and, if known already, its parts."""

    files: UnitGroup
    parts: list["Part"] = field(default_factory=list)
    lines: tuple[int, int] | None = None  # only these lines of its only file

    def leaves(self) -> list["Part"]:
        return [leaf for part in self.parts for leaf in part.leaves()] if self.parts else [self]


Join = Callable[[list[UnitGroup], int], list[UnitGroup]]


def makes_progress(sizes: list[int]) -> bool:
    return len(sizes) > 1 and max(sizes) <= PROGRESS_MAX * sum(sizes)


def nest_by_ties(leaves: list[UnitGroup], source: Source, tokens: list[int], ties: Ties, budget: int) -> list[Part]:
    def join(groups: list[UnitGroup], cap: int) -> list[UnitGroup]:
        return pack(agglomerate(groups, tokens, ties, cap), source.paths, tokens, ties, cap)

    return _nest(leaves, tokens, budget, join)


def nest_in_order(leaves: list[UnitGroup], tokens: list[int], budget: int) -> list[Part]:
    def join(groups: list[UnitGroup], cap: int) -> list[UnitGroup]:
        sizes = [_size(group, tokens) for group in groups]
        return [sorted(chain.from_iterable(run)) for run in runs_within(groups, sizes, cap)]

    return _nest(leaves, tokens, budget, join)


def _size(group: UnitGroup, tokens: list[int]) -> int:
    return sum(tokens[i] for i in group)


def _nest(leaves: list[UnitGroup], tokens: list[int], budget: int, join: Join) -> list[Part]:
    parts = [Part(sorted(leaf)) for leaf in sorted(leaves, key=min)]
    if sum(len(part.files) for part in parts) < _SMALL_PROJECT_FILES:
        return parts
    total = sum(_size(part.files, tokens) for part in parts)
    cap = budget * _GROWTH
    while cap < total and len(parts) > _GROWTH:
        level = _one_level(parts, tokens, cap, join)
        if len(level) < 2:
            break
        parts, cap = level, cap * _GROWTH
    return parts


def _one_level(parts: list[Part], tokens: list[int], cap: int, join: Join) -> list[Part]:
    part_of = {min(part.files): part for part in parts}
    level: list[Part] = []
    for group in join([part.files for part in parts], cap):
        inside = [part_of[i] for i in group if i in part_of]
        if makes_progress([_size(part.files, tokens) for part in inside]):
            level.append(Part(group, inside))
        else:
            level.extend(inside)
    return sorted(level, key=lambda part: min(part.files))
