"""The ceiling of a backlog: the most attempts that could run at once, given needs and claims.

The true number is that of a largest independent set, which takes for ever to find. So it is closed in on from both
sides: a set of tasks that can run together, and a cover by groups of which only one at a time can run. Where the
two meet, the number is exact; otherwise the set is told, as "about".
"""

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from manyhands.core.claims import Holdings, conflict
from manyhands.core.graph import chain_lengths, dependents_of
from manyhands.core.model import Claims, Task, claims_of

#: Up to this many tasks, every pair is looked at; beyond, tasks with equal claims count as one group.
CLOSE_LOOK_MAX = 1000
#: Pairs of conflicting claims that are looked at in a large backlog; beyond, only equal claims are seen to conflict.
_PAIRS_MAX = 2_000_000


class Ceiling(Struct, frozen=True):
    tasks: int
    is_exact: bool

    def __str__(self) -> str:
        return f"{self.tasks:,}" if self.is_exact else f"about {self.tasks:,}"


def ceiling_of(tasks: Sequence[Task]) -> Ceiling:
    if len(tasks) <= CLOSE_LOOK_MAX:
        low, high = _close_look(tasks)
        return Ceiling(low, low == high)
    low, high, saw_all = rough_look(tasks)
    return Ceiling(min(low, high), low == high and saw_all)


# A close look: who excludes whom, one bit a task.


def _close_look(tasks: Sequence[Task]) -> tuple[int, int]:
    excludes = [
        (ordered | conflicting) & ~(1 << number)
        for number, (ordered, conflicting) in enumerate(zip(_ordered(tasks), _conflicting(tasks), strict=True))
    ]
    return _largest_set(excludes), _smallest_cover(excludes)


def _ordered(tasks: Sequence[Task]) -> list[int]:
    """For each task the tasks that wait for it, or it for them, however far."""
    number_of = {task.id: number for number, task in enumerate(tasks)}
    needs = {task.id: task.needs for task in tasks}
    order = [number_of[task_id] for task_id in chain_lengths(needs) if task_id in number_of]
    before = [0] * len(tasks)
    for number in order:
        for need in tasks[number].needs:
            if need in number_of:
                before[number] |= before[number_of[need]] | 1 << number_of[need]
    after = [0] * len(tasks)
    for number in reversed(order):
        for need in tasks[number].needs:
            if need in number_of:
                after[number_of[need]] |= after[number] | 1 << number
    return [earlier | later for earlier, later in zip(before, after, strict=True)]


def _conflicting(tasks: Sequence[Task]) -> list[int]:
    """For each task those that it shares no instant with because of their claims."""
    holders: dict[Claims, int] = {}
    for number, task in enumerate(tasks):
        claims = claims_of(task)
        holders[claims] = holders.get(claims, 0) | 1 << number
    conflicts, _ = _conflicts(list(holders))
    masks = list(holders.values())
    union_of: dict[Claims, int] = {}
    for place, claims in enumerate(holders):
        union_of[claims] = 0
        for other in conflicts[place]:
            union_of[claims] |= masks[other]
    return [union_of[claims_of(task)] for task in tasks]


def _conflicts(distinct: list[Claims], pairs_max: float = math.inf) -> tuple[list[dict[int, None]], bool]:
    """For each of the claims those that conflict with it, itself included if two holders of it would.

    And whether that is all of them, or `pairs_max` put an end to it.
    """
    holdings = Holdings()
    for place, claims in enumerate(distinct):
        holdings.take(place, claims)
    found: list[dict[int, None]] = []
    pairs = 0
    for place, claims in enumerate(distinct):
        met: dict[int, None] = {}
        if claims.write or (claims.append and claims.read and conflict(claims, claims)):
            met[place] = None
        for other in holdings.conflicts(claims) if pairs < pairs_max else ():
            met[other] = None
            pairs += 1
            if pairs >= pairs_max:
                break
        found.append(met)
    return found, pairs < pairs_max


def _largest_set(excludes: list[int]) -> int:
    """Tasks that exclude none of each other, taken by who excludes the fewest of those still in question."""
    left = (1 << len(excludes)) - 1
    size = 0
    while left:
        best = min(_bits(left), key=lambda number: (excludes[number] & left).bit_count())
        size += 1
        left &= ~(excludes[best] | 1 << best)
    return size


def _smallest_cover(excludes: list[int]) -> int:
    """Groups in which all exclude each other: at most one of each can run, so their number is a bound."""
    left = (1 << len(excludes)) - 1
    groups = 0
    while left:
        number = (left & -left).bit_length() - 1
        left &= ~(1 << number)
        common = excludes[number] & left
        while common:
            member = (common & -common).bit_length() - 1
            left &= ~(1 << member)
            common &= excludes[member]
        groups += 1
    return groups


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


# A rough look, for large backlogs: sets of tasks that are not ordered, and groups of equal claims among them.


def rough_look(tasks: Sequence[Task]) -> tuple[int, int, bool]:
    place_of: dict[Claims, int] = {}
    group_of = [place_of.setdefault(claims_of(task), len(place_of)) for task in tasks]
    conflicts, saw_all = _conflicts(list(place_of), _PAIRS_MAX)
    low = max(_runnable(group, group_of, conflicts) for group in _unordered_sets(tasks))
    sizes = _sizes(range(len(tasks)), group_of)
    by_claims = sum(1 if place in conflicts[place] else size for place, size in sizes.items())
    return low, min(by_claims - _shared_turns(conflicts), _chains(tasks)), saw_all


def _unordered_sets(tasks: Sequence[Task]) -> list[list[int]]:
    """Sets in which no task waits for another: those at the same depth, and those that none waits for."""
    needs = {task.id: task.needs for task in tasks if task.needs}
    if not needs:
        return [list(range(len(tasks)))]
    length = chain_lengths(needs)
    needed = dependents_of(needs)
    levels: dict[int, list[int]] = {}
    last: list[int] = []
    for number, task in enumerate(tasks):
        levels.setdefault(length.get(task.id, 1), []).append(number)
        if task.id not in needed:
            last.append(number)
    return [*levels.values(), last]


def _sizes(numbers: Iterable[int], group_of: list[int]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for number in numbers:
        sizes[group_of[number]] = sizes.get(group_of[number], 0) + 1
    return sizes


def _runnable(numbers: list[int], group_of: list[int], conflicts: list[dict[int, None]]) -> int:
    """How many of these can run at once: one of a group that excludes itself, all of any other."""
    sizes = _sizes(numbers, group_of)
    worth = {place: 1 if place in conflicts[place] else size for place, size in sizes.items()}
    barred: set[int] = set()
    total = 0
    for place in sorted(worth, key=lambda place: (len(conflicts[place]) / worth[place], place)):
        if place not in barred:
            total += worth[place]
            barred.update(conflicts[place])
    return total


def _shared_turns(conflicts: list[dict[int, None]]) -> int:
    """Pairs of groups that each run one at a time and exclude each other: such a pair runs one at a time, too."""
    paired: set[int] = set()
    for place, others in enumerate(conflicts):
        if place in paired or place not in others:
            continue
        for other in others:
            if other != place and other not in paired and other in conflicts[other]:
                paired.update((place, other))
                break
    return len(paired) // 2


def _chains(tasks: Sequence[Task]) -> int:
    """The number of chains when each task is put behind one that it needs: of a chain, one at a time can run."""
    followed: set[str] = set()
    chains = len(tasks)
    for task in tasks:
        for need in task.needs:
            if need not in followed:
                followed.add(need)
                chains -= 1
                break
    return chains
