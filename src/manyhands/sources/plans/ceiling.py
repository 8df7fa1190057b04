"""The ceiling of a plan: the most attempts that could run at once, given needs and claims.

The true number is that of a largest independent set, which takes far too long to find. So it is closed in on from both
sides: a set of tasks that can run together, and a cover by groups of which only one at a time can run. Where the
two meet, the number is exact; otherwise the set is told, as "about".
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from manyhands.core.graph import chain_lengths
from manyhands.core.values.task import Claims, Task, claims_of
from manyhands.sources.plans.claim_conflicts import conflicts_among
from manyhands.sources.plans.rough_ceiling import rough_look

#: Up to this many tasks, every pair is looked at; beyond, tasks with equal claims count as one group.
CLOSE_LOOK_MAX = 1000


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


def _close_look(tasks: Sequence[Task]) -> tuple[int, int]:
    """Bounds from who excludes whom, one bit a task."""
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
    conflicts, _ = conflicts_among(list(holders))
    masks = list(holders.values())
    union_of: dict[Claims, int] = {}
    for place, claims in enumerate(holders):
        union_of[claims] = 0
        for other in conflicts[place]:
            union_of[claims] |= masks[other]
    return [union_of[claims_of(task)] for task in tasks]


def _largest_set(excludes: list[int]) -> int:
    """Tasks that do not exclude each other. The task that excludes the fewest others is taken first."""
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
