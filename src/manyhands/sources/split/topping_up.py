"""Gives every group its smallest number of files, where that fits: a group takes some from others, or is dissolved.

Ties and directories have made the groups. So as few files as possible move, each to the nearest group or from it.
"""

from collections.abc import Iterable, Iterator

from manyhands.sources.split.agglomeration import UnitGroup
from manyhands.sources.split.naming import home_of
from manyhands.sources.split.packing import common_start
from manyhands.sources.split.tie_weights import Ties

#: File → the group that it goes to.
Moves = dict[int, int]


def top_up(
    groups: list[UnitGroup], paths: tuple[str, ...], tokens: list[int], ties: Ties, cap: int, min_files: int
) -> list[UnitGroup]:
    """A group that can neither be filled nor dissolved stays as it is."""
    return _ToppingUp(groups, paths, tokens, ties, cap, min_files).run()


class _ToppingUp:
    def __init__(
        self,
        groups: list[UnitGroup],
        paths: tuple[str, ...],
        tokens: list[int],
        ties: Ties,
        cap: int,
        min_files: int,
    ) -> None:
        self._tokens, self._cap, self._min_files = tokens, cap, min_files
        self._members = {place: set(group) for place, group in enumerate(groups)}
        self._size = {place: sum(tokens[i] for i in group) for place, group in self._members.items()}
        self._home = [
            tuple(home_of([paths[i] for i in group], [tokens[i] for i in group]).split("/")) for group in groups
        ]
        self._group_of = {i: place for place, group in self._members.items() for i in group}
        self._near: dict[int, dict[int, int]] = {}
        for (a, b), weight in ties.items():
            self._near.setdefault(a, {})[b] = weight
            self._near.setdefault(b, {})[a] = weight

    def run(self) -> list[UnitGroup]:
        """Each round but the last leaves fewer groups too small, so the rounds come to an end."""
        settled = 1
        while settled:
            small = sorted((len(group), place) for place, group in self._members.items() if self._is_small(place))
            settled = sum([self._settle(place) for _, place in small if self._is_small(place)])
        return sorted((sorted(group) for group in self._members.values()), key=min)

    def _is_small(self, place: int) -> bool:
        group = self._members.get(place)
        # A file over the budget is cut: the number of files says nothing about its pieces.
        return group is not None and len(group) < self._min_files and self._size[place] <= self._cap

    def _settle(self, place: int) -> bool:
        """Fill or dissolve it, whichever moves fewer files. False: neither is possible now."""
        ways = [self._filled, self._dissolved]
        if len(self._members[place]) < self._min_files - len(self._members[place]):
            ways.reverse()
        for way in ways:
            moves = way(place)
            if moves is not None:
                self._carry_out(moves)
                if not self._members[place]:
                    del self._members[place]
                return True
        return False

    def _filled(self, place: int) -> Moves | None:
        """Files for the group from others that keep enough; None if there are not enough."""
        spare = {
            donor: len(self._members[donor]) - self._min_files
            for donor in self._nearest(place)
            if len(self._members[donor]) > self._min_files
        }
        # The nearest first. If these are too large together, the smallest.
        nearest = (file for donor in spare for file in sorted(self._members[donor], key=lambda i: self._gift(i, place)))
        if moves := self._taken(place, nearest, spare):
            return moves
        smallest = sorted(
            (file for donor in spare for file in self._members[donor]), key=lambda i: (self._tokens[i], i)
        )
        return self._taken(place, smallest, spare)

    def _gift(self, file: int, place: int) -> tuple[int, int, int]:
        return -self._tie(file, place), self._tokens[file], file

    def _taken(self, place: int, offered: Iterable[int], spare: dict[int, int]) -> Moves | None:
        missing, room = self._min_files - len(self._members[place]), self._cap - self._size[place]
        left = dict(spare)
        moves: Moves = {}
        for file in offered:
            donor = self._group_of[file]
            if left[donor] and self._tokens[file] <= room:
                moves[file] = place
                left[donor] -= 1
                room -= self._tokens[file]
                if len(moves) == missing:
                    return moves
        return None

    def _dissolved(self, place: int) -> Moves | None:
        """A place elsewhere for each file of the group; None if one has none."""
        others = list(self._nearest(place))
        room = {other: self._cap - self._size[other] for other in others}
        rank = {other: at for at, other in enumerate(others)}
        moves: Moves = {}
        for file in sorted(self._members[place], key=lambda i: (-self._tokens[i], i)):
            able = [other for other in others if room[other] >= self._tokens[file]]
            if not able:
                return None
            chosen = min(able, key=lambda other: (-self._tie(file, other), rank[other]))
            moves[file] = chosen
            room[chosen] -= self._tokens[file]
        return moves

    def _nearest(self, place: int) -> Iterator[int]:
        """The other groups, those with the most of its directory first, and of these those that need files."""
        home = self._home[place]
        key = {
            other: (-common_start(home, self._home[other]), not self._is_small(other), other)
            for other in self._members
            if other != place
        }
        return iter(sorted(key, key=key.__getitem__))

    def _tie(self, file: int, place: int) -> int:
        return sum(weight for other, weight in self._near.get(file, {}).items() if self._group_of[other] == place)

    def _carry_out(self, moves: Moves) -> None:
        for file, to in moves.items():
            was = self._group_of[file]
            self._members[was].discard(file)
            self._size[was] -= self._tokens[file]
            self._members[to].add(file)
            self._size[to] += self._tokens[file]
            self._group_of[file] = to
