"""Bounds of the ceiling of a large plan, in about the time it takes to walk through it a few times.

Tasks with equal claims form a group: one of a group that excludes itself can run, or all of one that does not.
"""

from collections.abc import Iterable, Sequence

from manyhands.core.graph import chain_lengths
from manyhands.core.values.task import Claims, Task, claims_of
from manyhands.sources.plans.claim_conflicts import conflicts_among

#: Pairs of conflicting claims that are looked at; beyond, only equal claims are seen to conflict.
_PAIRS_MAX = 2_000_000


def rough_look(tasks: Sequence[Task]) -> tuple[int, int, bool]:
    """At least so many, at most so many, and whether all conflicts were seen (if not, it may be fewer)."""
    place_of: dict[Claims, int] = {}
    group_of = [place_of.setdefault(claims_of(task), len(place_of)) for task in tasks]
    conflicts, saw_all = conflicts_among(list(place_of), _PAIRS_MAX)
    worth = [0] * len(place_of)  # the most of each group that can run at once, needs aside
    for place in group_of:
        worth[place] = 1 if place in conflicts[place] else worth[place] + 1
    rank = [len(conflicts[place]) / worth[place] for place in range(len(worth))]
    if any(task.needs for task in tasks):
        graph = _Graph(tasks)
        low = max(_take(order, graph, group_of, conflicts) for order in _orders(graph, group_of, rank))
    else:
        low = _take_groups(sorted(range(len(worth)), key=rank.__getitem__), worth, conflicts)
    high = min(sum(worth) - _shared_turns(conflicts), _chains(tasks))
    return low, high, saw_all


class _Graph:
    """Who needs whom, by number."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        number_of = {task.id: number for number, task in enumerate(tasks)}
        self.needs: dict[int, list[int]] = {}
        self.dependents: dict[int, list[int]] = {}
        for number, task in enumerate(tasks):
            for need in task.needs:
                if need in number_of:
                    self.needs.setdefault(number, []).append(number_of[need])
                    self.dependents.setdefault(number_of[need], []).append(number)
        length = chain_lengths({task.id: task.needs for task in tasks if task.needs})
        self.level = [length.get(task.id, 1) for task in tasks]


def _orders(graph: _Graph, group_of: list[int], rank: list[float]) -> Iterable[list[int]]:
    """Orders to take tasks in: the best for one shape of plan is poor for another."""
    by_rank = sorted(range(len(group_of)), key=lambda number: rank[group_of[number]])
    yield by_rank
    yield sorted(by_rank, key=graph.dependents.__contains__)  # those that none waits for first
    yield sorted(by_rank, key=graph.needs.__contains__)  # those that wait for none first
    size_of: dict[int, int] = {}
    for level in graph.level:
        size_of[level] = size_of.get(level, 0) + 1
    yield sorted(by_rank, key=lambda number: (-size_of[graph.level[number]], graph.level[number]))


def _take(order: list[int], graph: _Graph, group_of: list[int], conflicts: list[dict[int, None]]) -> int:
    """How many are taken when each is that neither waits for one taken before, nor is waited for, nor conflicts."""
    earlier, later = bytearray(len(order)), bytearray(len(order))  # than one that is taken
    barred: set[int] = set()
    taken = 0
    for number in order:
        if earlier[number] or later[number] or group_of[number] in barred:
            continue
        taken += 1
        barred.update(conflicts[group_of[number]])
        _mark(number, graph.needs, earlier)
        _mark(number, graph.dependents, later)
    return taken


def _mark(start: int, neighbours: dict[int, list[int]], marks: bytearray) -> None:
    """Mark all that can be reached. Beyond what is marked, all is: so nothing is walked twice."""
    ahead = list(neighbours.get(start, ()))
    while ahead:
        number = ahead.pop()
        if not marks[number]:
            marks[number] = 1
            ahead.extend(neighbours.get(number, ()))


def _take_groups(order: list[int], worth: list[int], conflicts: list[dict[int, None]]) -> int:
    barred: set[int] = set()
    taken = 0
    for place in order:
        if place not in barred:
            taken += worth[place]
            barred.update(conflicts[place])
    return taken


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
