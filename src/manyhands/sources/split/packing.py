"""Joins small groups to the group with the strongest ties that has room. This balances the sizes."""

import heapq

from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.naming import home_of
from manyhands.sources.split.tie_weights import Ties

#: A group below this share of the cap is joined to another.
_SMALL = 0.6


def pack(
    groups: list[UnitGroup], paths: tuple[str, ...], tokens: list[int], ties: Ties, cap: int, min_files: int = 1
) -> list[UnitGroup]:
    """Groups without ties go to those with the nearest home directory, so that no group stays alone.

    A group of fewer than `min_files` files is joined to another too, if there is one with room.
    """
    return _Packing(groups, paths, tokens, ties, cap, min_files).run()


class _Packing:
    def __init__(
        self,
        groups: list[UnitGroup],
        paths: tuple[str, ...],
        tokens: list[int],
        ties: Ties,
        cap: int,
        min_files: int,
    ) -> None:
        self._paths, self._tokens, self._cap, self._min_files = paths, tokens, cap, min_files
        self._members = {min(group): group for group in groups}
        self._size = {name: sum(tokens[i] for i in group) for name, group in self._members.items()}
        self._home = {name: self._home_of(group) for name, group in self._members.items()}
        self._near: dict[int, dict[int, int]] = {name: {} for name in self._members}
        group_of = {i: name for name, group in self._members.items() for i in group}
        for (a, b), weight in ties.items():
            one, other = group_of.get(a), group_of.get(b)
            if one is not None and other is not None and one != other:
                self._near[one][other] = self._near[one].get(other, 0) + weight
                self._near[other][one] = self._near[other].get(one, 0) + weight

    def _home_of(self, group: UnitGroup) -> tuple[str, ...]:
        home = home_of([self._paths[i] for i in group], [self._tokens[i] for i in group])
        return tuple(home.split("/"))

    def run(self) -> list[UnitGroup]:
        small = [(size, name) for name, size in self._size.items() if self._is_small(name)]
        heapq.heapify(small)
        while small:
            size, name = heapq.heappop(small)
            if self._size.get(name) != size:
                continue
            partner = self._partner_of(name)
            if partner is None:
                continue
            kept = self._join(min(name, partner), max(name, partner))
            if self._is_small(kept):
                heapq.heappush(small, (self._size[kept], kept))
        return [sorted(self._members[name]) for name in sorted(self._members)]

    def _is_small(self, name: int) -> bool:
        return self._size[name] < self._cap * _SMALL or len(self._members[name]) < self._min_files

    def _partner_of(self, name: int) -> int | None:
        room = self._cap - self._size[name]
        tied = [other for other in self._near[name] if self._size[other] <= room]
        near = self._near[name]
        if tied:
            return min(tied, key=lambda other: (-near[other], -self._size[other], other))
        home = self._home[name]
        # A full group is skipped as a whole: without ties there is no reason to look closer.
        open_to = [other for other, size in self._size.items() if size <= room and other != name]
        key = {other: (-common_start(home, self._home[other]), -self._size[other], other) for other in open_to}
        return min(open_to, key=key.__getitem__, default=None)

    def _join(self, kept: int, gone: int) -> int:
        for other, weight in self._near.pop(gone).items():
            del self._near[other][gone]
            if other != kept:
                self._near[kept][other] = self._near[other][kept] = self._near[kept].get(other, 0) + weight
        self._members[kept] = self._members[kept] + self._members.pop(gone)
        if self._size[gone] > self._size[kept]:
            self._home[kept] = self._home[gone]
        del self._home[gone]
        self._size[kept] += self._size.pop(gone)
        return kept


def common_start(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared
