"""What a good plan amounts to, before anything runs: size, depth, ceiling, and what its tasks will queue for."""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from manyhands.core.claims import is_resource
from manyhands.core.graph import chain_lengths
from manyhands.core.values.task import Claims, Task
from manyhands.sources.plans.ceiling import Ceiling, ceiling_of
from manyhands.sources.plans.undeclared_claims import undeclared_claims

_HOTTEST = 5


class HotClaim(Struct, frozen=True):
    claim: str
    tasks: int  # how many hold it, or a directory around it, and must take turns


class PlanFigures(Struct, frozen=True):
    tasks: int
    by_kind: dict[str, int]  # the largest first
    by_priority: dict[int, int]  # all five, zeros included
    depth: int  # tasks on the longest chain of needs
    ceiling: Ceiling
    hottest: tuple[HotClaim, ...]
    undeclared: int  # tasks that declare no claims and so have the workspace to themselves, one at a time

    @property
    def hint(self) -> str:
        if not self.undeclared:
            return ""
        return (
            f"{self.undeclared:,} of {self.tasks:,} tasks declare no claims and run one at a time in the workspace; "
            "`claims = {}` says that a task touches nothing"
        )


def figures_of(tasks: Sequence[Task]) -> PlanFigures:
    kinds = Counter(task.kind for task in tasks)
    priorities = Counter(task.priority for task in tasks)
    needs = {task.id: task.needs for task in tasks if task.needs}
    return PlanFigures(
        tasks=len(tasks),
        by_kind=dict(kinds.most_common()),
        by_priority={priority: priorities[priority] for priority in range(5)},
        depth=max(chain_lengths(needs).values(), default=min(1, len(tasks))),
        ceiling=ceiling_of(tasks),
        hottest=hottest_claims(tasks),
        undeclared=undeclared_claims(tasks),
    )


def hottest_claims(tasks: Sequence[Task]) -> tuple[HotClaim, ...]:
    """The claims that the most tasks must take turns on. Tasks that declare none are not counted here."""
    tasks_by_claims = Counter(task.claims for task in tasks if task.claims)
    named: dict[str, str] = {}  # region → the claim as it was first written
    rough: Counter[str] = Counter()
    for claims, count in tasks_by_claims.items():
        for pattern in dict.fromkeys((*claims.write, *claims.append, *claims.read)):
            region = _region(pattern)
            named.setdefault(region, pattern)
            rough[region] += count
    # Wider claims count for all that is inside of them; they can at most add up to their own number.
    around = {region: sum(rough[outer] for outer in _around(region) if outer in rough) for region in rough}
    candidates = sorted(around, key=lambda region: (-around[region], region))[: 4 * _HOTTEST]
    hot = [HotClaim(named[region], _turns(region, tasks_by_claims)) for region in candidates]
    hot.sort(key=lambda claim: (-claim.tasks, claim.claim))
    return tuple(claim for claim in hot if claim.tasks > 1)[:_HOTTEST]


def _region(pattern: str) -> str:
    """`src/auth` and `src/auth/**` are the same claim; everything is ""."""
    return "" if pattern == "**" else pattern.removesuffix("/**")


def _around(region: str) -> Iterator[str]:
    """The region itself and each directory around it, up to the whole workspace; a named resource is in none."""
    if is_resource(region):
        yield region
        return
    while region:
        yield region
        region = region.rpartition("/")[0]
    yield ""


def _turns(region: str, tasks_by_claims: "Counter[Claims]") -> int:
    """How many tasks hold the whole region in a way that keeps them from sharing it."""
    around = set(_around(region))
    holders = {"write": 0, "append": 0, "read": 0}
    for claims, count in tasks_by_claims.items():
        for mode, patterns in (("write", claims.write), ("append", claims.append), ("read", claims.read)):
            if any(_region(pattern) in around for pattern in patterns):
                holders[mode] += count
                break  # its strongest mode is what others wait for
    if holders["write"] or (holders["append"] and holders["read"]):
        return sum(holders.values())
    return 0
