"""Repeatedly joins the groups with the closest ties, as long as the result fits.

Merges are local: if some ties change, only the groups around them move. Community detection by modularity (Louvain)
does not have this property. bench/split_quality.py compares the two.
"""

import heapq

from manyhands.sources.split.tie_weights import Ties

UnitGroup = list[int]


def agglomerate(
    groups: list[UnitGroup], tokens: list[int], ties: Ties, cap: int, tie_min: float = 0.0
) -> list[UnitGroup]:
    """Join groups in the order of their ties, as long as none outgrows `cap` and ties are at least `tie_min`.

    The closeness of two groups is the weight of their ties as a share of all ties of the less tied group (0 … 1).
    """
    if len(groups) < 2:
        return groups
    return _Agglomeration(groups, tokens, ties, cap, tie_min).run()


class _Agglomeration:
    """Every live group has one heap entry for its closest partner, with at least the real closeness."""

    def __init__(self, groups: list[UnitGroup], tokens: list[int], ties: Ties, cap: int, tie_min: float) -> None:
        self._cap, self._tie_min = cap, tie_min
        self._members: dict[int, UnitGroup] = {min(group): sorted(group) for group in groups}
        self._size = {name: sum(tokens[i] for i in group) for name, group in self._members.items()}
        self._near: dict[int, dict[int, int]] = {name: {} for name in self._members}
        self._degree = dict.fromkeys(self._members, 0)
        self._best: dict[int, float] = {}
        self._heap: list[tuple[float, int, int, int]] = []
        # A group is named by its first file, which breaks ties between equal values.
        self._name_of = {i: name for name, group in self._members.items() for i in group}
        for (a, b), weight in ties.items():
            self._tie(a, b, weight)

    def _tie(self, a: int, b: int, weight: int) -> None:
        if a not in self._name_of or b not in self._name_of:
            return
        one, other = self._name_of[a], self._name_of[b]
        self._degree[one] += weight
        self._degree[other] += weight
        if one != other:
            self._near[one][other] = self._near[one].get(other, 0) + weight
            self._near[other][one] = self._near[other].get(one, 0) + weight

    def run(self) -> list[UnitGroup]:
        for name in sorted(self._members):
            self._look_around(name)
        while self._heap:
            score, _, one, other = heapq.heappop(self._heap)
            if one not in self._members or self._best.get(one) != -score:
                continue
            if other in self._near[one] and self._fits(one, other) and self._closeness(one, other) == -score:
                self._join(min(one, other), max(one, other))
            else:
                self._look_around(one)
        return [self._members[name] for name in sorted(self._members)]

    def _fits(self, one: int, other: int) -> bool:
        return self._size[one] + self._size[other] <= self._cap

    def _closeness(self, one: int, other: int) -> float:
        return self._near[one][other] / min(self._degree[one], self._degree[other])

    def _look_around(self, name: int) -> None:
        room = self._cap - self._size[name]
        degree, size = self._degree, self._size
        own = degree[name]
        best, partner = 0.0, -1
        for other, weight in self._near[name].items():
            if size[other] <= room:
                closeness = weight / min(own, degree[other])
                if closeness > best or (closeness == best and other < partner):
                    best, partner = closeness, other
        self._best.pop(name, None)
        if partner >= 0 and best >= self._tie_min:
            self._offer(name, partner, best)

    def _offer(self, name: int, partner: int, closeness: float) -> None:
        self._best[name] = closeness
        heapq.heappush(self._heap, (-closeness, min(name, partner), name, partner))

    def _join(self, kept: int, gone: int) -> None:
        near_kept, near_gone = self._near[kept], self._near.pop(gone)
        for other, weight in near_gone.items():
            del self._near[other][gone]
            if other != kept:
                near_kept[other] = self._near[other][kept] = near_kept.get(other, 0) + weight
        self._members[kept] = sorted(self._members[kept] + self._members.pop(gone))
        self._size[kept] += self._size.pop(gone)
        self._degree[kept] += self._degree.pop(gone)
        self._best.pop(gone, None)
        self._look_around(kept)
        for other in near_gone:
            if other != kept and self._fits(kept, other):
                closeness = self._closeness(kept, other)
                if closeness >= self._tie_min and closeness > self._best.get(other, 0.0):
                    self._offer(other, kept, closeness)
