"""Which ready task comes next.

Tasks with the same run, kind, claims, parent and host form a group and wait together. A look at the first of a group
is a look at all of it, so a million blocked tasks cost as much as one. Groups of one run and kind share a pool. A
group that waits for something particular is parked there until that changes.
"""

import heapq
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from manyhands.core.claims import places_of
from manyhands.core.state import FamilyBarrier, HostState, Record, Run
from manyhands.core.values.host import Rule
from manyhands.core.values.task import Claims, claims_of, form_of

#: (priority, -weight, age): the smallest goes first.
StartOrder = tuple[int, float, int]
#: What a parked group waits for: an attempt's end, a parent's child's end, or a reservation.
Token = tuple[str, object]


class GroupKey(NamedTuple):
    kind: str
    form: str
    host: str
    parent: str
    barrier: bool | FamilyBarrier
    claims: Claims
    resources: tuple[tuple[str, float], ...]


class Group:
    __slots__ = ("bypassed", "keeps", "key", "order", "parked_on", "pool", "queue", "reserved", "seen", "waits_since")

    def __init__(self, key: GroupKey, pool: "Pool") -> None:
        self.key = key
        self.pool = pool
        self.queue: list[tuple[int, float, int, Record]] = []  # heap of (priority, -chain, age, record)
        self.order: StartOrder | None = None  # its place in the pool's heap; None while it has none
        self.parked_on: Token | None = None
        self.bypassed = 0  # how often others that came later took what it waits for
        self.reserved = False
        self.keeps: HostState | None = None  # the host that empties for it
        self.seen = 0  # the newest attempt when the group was last turned away
        self.waits_since: float | None = None  # since then it could start, but waits for a faster host

    @property
    def head(self) -> Record:
        return self.queue[0][3]


class Pool:
    """All groups of one run and kind that the same hosts can take."""

    def __init__(self, run: Run, kind: str, form: str, host: str) -> None:
        self.run = run
        self.kind = kind
        self.form = form
        self.host = host
        self.hosts: list[HostState] = []  # in the config's order
        self.places: dict[str, int] = {}  # where each of them is in it
        self.heap: list[tuple[StartOrder, int, Group]] = []
        self.held_by: Rule | None = None  # the ordering rule that puts all of it off

    def goes_to(self, hosts: list[HostState]) -> None:
        self.hosts = hosts
        self.places = {host.name: place for place, host in enumerate(hosts)}


class ReadySet:
    """The order of everything that is ready: by priority, then weight, then age.

    A group's weight is an upper bound that is computed again when its turn comes: weights fall as work is done.
    """

    def __init__(self, hosts_for: Callable[[str, str, str], list[HostState]]) -> None:
        self._hosts_for = hosts_for  # (kind, form, host) → the hosts that take it
        self.groups: dict[tuple[str, GroupKey], Group] = {}
        self.pools: dict[tuple[str, str, str, str], Pool] = {}
        self.reservations: list[Group] = []  # bypassed too often: other groups may not take their claims
        self.keeping: dict[Group, None] = {}  # groups that a host empties for
        self.critical: dict[Group, None] = {}  # groups that may have a critical task which needs room
        self._placings = 0
        self._parked: dict[Token, list[Group]] = {}
        self._demand: dict[str, int] = {}  # file or directory → write claims of unfinished tasks at or below it

    def want(self, record: Record, sign: int) -> None:
        """Count an unfinished task's write claims (+1), or stop counting them (-1)."""
        for pattern in claims_of(record.task).write:
            for place in places_of(pattern):
                left = self._demand.get(place, 0) + sign
                if left > 0:
                    self._demand[place] = left
                else:
                    self._demand.pop(place, None)

    def demand(self, pattern: str) -> int:
        """How many unfinished tasks take turns with a writer of this claim. A glob counts as its literal part."""
        return self._demand.get(places_of(pattern)[-1], 0)

    def add(self, run: Run, record: Record) -> Group:
        group = self._open_group(run, record)
        entry = (record.task.priority, -self._chain(run, record), record.number, record)
        heapq.heappush(group.queue, entry)
        if record.task.priority == 0:
            self.critical[group] = None
        if group.order is None and group.parked_on is None:
            self._place(group)
        elif group.queue[0] is entry:  # a new head may come sooner, or be entitled to more
            self.unpark(group)
            self._place(group)
        return group

    def remove(self, record: Record, run: Run) -> None:
        """Take a task out of the middle. This is rare (a person cancels or defers), so a scan is cheap enough."""
        group = self.group_of(run, record)
        group.queue = [entry for entry in group.queue if entry[3] is not record]
        heapq.heapify(group.queue)
        if not group.queue:
            self._forget(group)
        elif group.parked_on is None:
            self._place(group)

    def take_head(self, group: Group) -> Record:
        """The group's first task starts."""
        record = heapq.heappop(group.queue)[3]
        group.order = None
        if group.seen:
            self.drop_reservation(group)
        if group.keeps is not None:
            self.let_host_go(group)
        group.waits_since = None
        if group.queue:
            self._place(group)
        else:
            self._forget(group)
        return record

    def peek(self, pool: Pool) -> Group | None:
        """The pool's first group, with its order brought up to date. Stale entries are dropped here."""
        heap = pool.heap
        while heap:
            order, _, group = heap[0]
            if group.order is not order:
                heapq.heappop(heap)
                continue
            now = self.order_of(group)
            if now <= order:
                return group
            heapq.heappop(heap)
            self._place(group)
        return None

    def order_of(self, group: Group) -> StartOrder:
        priority, chain, age, _ = group.queue[0]
        claims = group.key.claims
        if group.keeps is not None:
            return priority, -math.inf, age  # a host stands empty for it
        if claims.write and group.pool.run.concurrency != 1:
            # The most wanted claim decides most, and the others count too.
            squares = sum(self.demand(pattern) ** 2 for pattern in claims.write)
            return priority, min(chain, -math.sqrt(squares)), age
        return priority, chain, age

    def park(self, group: Group, token: Token) -> None:
        group.order = None
        group.parked_on = token
        self._parked.setdefault(token, []).append(group)

    def set_aside(self, group: Group) -> None:
        """Let the other groups of its pool pass, until `put_back`."""
        group.order = None

    def put_back(self, group: Group) -> None:
        if group.queue and group.order is None and group.parked_on is None:
            self._place(group)

    def unpark(self, group: Group) -> None:
        if group.parked_on is not None:
            waiting = self._parked[group.parked_on]
            waiting.remove(group)
            if not waiting:
                del self._parked[group.parked_on]
            group.parked_on = None

    def wake(self, token: Token) -> None:
        """What these groups waited for has changed: they take their place again."""
        for group in self._parked.pop(token, ()):
            group.parked_on = None
            self._place(group)

    def parked(self) -> Iterator[tuple[Token, list[Group]]]:
        """What groups wait for in particular, and the groups that do."""
        yield from self._parked.items()

    def records(self, pool: Pool) -> Iterator[Record]:
        for group in self.groups.values():
            if group.pool is pool:
                for entry in group.queue:
                    yield entry[3]

    def _place(self, group: Group) -> None:
        group.order = self.order_of(group)
        self._placings += 1  # breaks ties before groups would have to be compared
        heapq.heappush(group.pool.heap, (group.order, self._placings, group))

    def _forget(self, group: Group) -> None:
        self.unpark(group)
        group.order = None
        self.drop_reservation(group)
        self.let_host_go(group)
        self.critical.pop(group, None)
        self.groups.pop((group.pool.run.name, group.key), None)

    def clear(self, run: Run | None = None) -> None:
        """Start nothing more (of that run)."""
        for (name, _), group in list(self.groups.items()):
            if run is None or name == run.name:
                group.queue = []
                self._forget(group)
        if run is None:
            self.pools, self._demand = {}, {}

    def order_anew(self, run: Run) -> None:
        """Sort the tasks of the run again, because their order has changed."""
        waiting = [entry[3] for (name, _), group in self.groups.items() if name == run.name for entry in group.queue]
        held_by = {name: pool.held_by for name, pool in self.pools.items()}
        self.clear(run)
        for record in waiting:
            pool = self.add(run, record).pool
            pool.held_by = held_by[(run.name, pool.kind, pool.form, pool.host)]

    def forget_idle_pools(self, run: Run) -> None:
        """A dispatcher lives longer than its runs. What they leave behind must not slow down the next ones."""
        busy = {id(group.pool) for (name, _), group in self.groups.items() if name == run.name}
        self.pools = {name: pool for name, pool in self.pools.items() if name[0] != run.name or id(pool) in busy}

    def keep_host(self, group: Group, host: HostState) -> None:
        """Until the group has started, only more urgent tasks start on this host."""
        if host.kept_for is not None:
            self.let_host_go(host.kept_for)
        host.kept_for, group.keeps = group, host
        self.keeping[group] = None

    def let_host_go(self, group: Group) -> None:
        if group.keeps is not None:
            group.keeps.kept_for = None
            group.keeps = None
            del self.keeping[group]

    def reserve(self, group: Group) -> None:
        group.reserved = True
        self.reservations.append(group)

    def drop_reservation(self, group: Group) -> None:
        group.bypassed = group.seen = 0
        if group.reserved:
            group.reserved = False
            self.reservations.remove(group)
            self.wake(("reservation", group))

    def _chain(self, run: Run, record: Record) -> float:
        if record.guidance is not None and record.guidance.approved:
            return math.inf  # it only has to land, and a person waits to see it
        # If tasks run one at a time, no order is faster than another, and people expect the order of the plan.
        return 0.0 if run.concurrency == 1 else record.chain

    def group_of(self, run: Run, record: Record) -> Group:
        """The group that the task waits in, to look at."""
        return self.groups[(run.name, _key_of(run, record))]

    def _open_group(self, run: Run, record: Record) -> Group:
        key = _key_of(run, record)
        group = self.groups.get((run.name, key))
        if group is None:
            group = self.groups[(run.name, key)] = Group(key, self._pool_of(run, key))
        return group

    def _pool_of(self, run: Run, key: GroupKey) -> Pool:
        name = (run.name, key.kind, key.form, key.host)
        pool = self.pools.get(name)
        if pool is None:
            pool = self.pools[name] = Pool(run, key.kind, key.form, key.host)
            pool.goes_to(self._hosts_for(key.kind, key.form, key.host))
        return pool


def _key_of(run: Run, record: Record) -> GroupKey:
    task = record.task
    return GroupKey(
        task.kind,
        form_of(task),
        task.host,
        task.parent if task.parent in run.parent_bounds else "",
        record.barrier,
        claims_of(task),
        tuple(sorted(task.resources.items())) if task.resources else (),
    )
