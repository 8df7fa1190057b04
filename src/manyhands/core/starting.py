"""Start all tasks that may start, the best first."""

import heapq
import math

from msgspec.structs import replace

from manyhands.core import attempts, budgets, intake
from manyhands.core.book import Book
from manyhands.core.commands import StartAttempt
from manyhands.core.events import AttemptStarted
from manyhands.core.lessons import with_lessons
from manyhands.core.longest_first import LongestFirst
from manyhands.core.obstacles import (
    Obstacle,
    could_ever_take,
    group_obstacle,
    host_obstacle,
    is_kept_from,
    run_obstacle,
)
from manyhands.core.placement import choose
from manyhands.core.preemption import Outlook, is_willing
from manyhands.core.ready import Group
from manyhands.core.scarce_hosts import NO_OTHERS, needed_elsewhere
from manyhands.core.state import HostState, Running
from manyhands.core.values.ending import EndingKind
from manyhands.core.values.provenance import Cause, CausedBy
from manyhands.core.wishes import wish_for

#: A task that needs wide claims or much of a host goes first after equally urgent tasks passed it this often.
BYPASSES_MAX = 8
#: With more hosts than this no task waits for a faster one: another equally good host will soon be free.
WAITED_FOR_MAX = 64
#: Groups with critical tasks for which one round looks for attempts to stop. The others wait for the next round.
CRITICAL_MAX = 64
#: A host with its rank for a kind: the smallest rank comes first.
Ranked = tuple[tuple[bool, float, float], int, HostState]


class _Round:
    """What one pass has found out about the hosts so far."""

    def __init__(self, book: Book) -> None:
        self.open = [pool for pool in book.ready.pools.values() if pool.heap]
        self.waiting: dict[str, int] = {}  # host → tasks that wait for it instead of starting elsewhere
        self.shut: set[tuple[str, str]] = set()  # (host, kind) pairs that rates or memory close for now
        self.emptiest: dict[tuple[str, str, str], list[Ranked]] = {}  # heaps, where there are many hosts
        self.blocked_groups: list[Group] = []  # they cannot start now, though others of their pool may
        self.longest = LongestFirst()


def start_what_may(book: Book) -> None:
    book.look_at = None  # each round decides again when to look next
    _withdraw_promises(book)
    round_ = _Round(book)
    while (group := _first(book, round_)) is not None:
        pool = group.pool
        if run_obstacle(pool) is not None:
            round_.open.remove(pool)
            continue
        obstacle = group_obstacle(group, book.held, book.running, book.ready)
        if obstacle is not None:
            _turn_away(book, group, obstacle)
            continue
        host = _host_for(book, group, round_)
        if host is not None:
            _start(book, group, host)
        elif group.key.barrier or group.key.resources or round_.waiting:
            round_.blocked_groups.append(group)
            book.ready.set_aside(group)
        else:
            round_.open.remove(pool)
    for group in round_.blocked_groups:
        book.ready.put_back(group)
    if book.ready.critical:
        _preempt(book)


def _withdraw_promises(book: Book) -> None:
    """Claims and hosts are kept only for groups that could use them. Others must not wait for what cannot happen."""
    ready = book.ready
    for group in [*ready.keeping]:
        host = group.keeps
        assert host is not None
        if host.paused is not None or _is_held_up(group) or not could_ever_take(host, group):
            ready.let_host_go(group)
    for group in [*ready.reservations]:
        if _is_held_up(group) or all(host.paused is not None for host in group.pool.hosts):
            ready.drop_reservation(group)


def _is_held_up(group: Group) -> bool:
    return group.pool.run.draining or group.pool.held_by is not None


def _first(book: Book, round_: _Round) -> Group | None:
    """The most urgent group; then of the run with the least in flight for its weight; then by the run's order."""
    if len(round_.open) == 1:
        return book.ready.peek(round_.open[0])
    best: Group | None = None
    best_rank: tuple[int, float, float, float, int] | None = None
    for pool in round_.open:
        group = book.ready.peek(pool)
        if group is not None and group.order is not None:
            priority, weight, age = group.order
            expected_s = round_.longest.expected_s(pool, round_.open)
            rank = (priority, pool.run.in_flight / pool.run.weight, weight, -expected_s, age)
            if best_rank is None or rank < best_rank:
                best, best_rank = group, rank
    return best


def _turn_away(book: Book, group: Group, obstacle: Obstacle) -> None:
    holder = obstacle.holder
    book.ready.let_host_go(group)
    if holder is not None:
        if group.seen and _was_passed(book, group):
            group.bypassed += 1
            if group.bypassed >= BYPASSES_MAX and not group.reserved:
                book.ready.reserve(group)
        elif not group.reserved and _is_next_at_bottleneck(book, group, holder):
            book.ready.reserve(group)
        group.seen = book.last_attempt
    assert obstacle.token is not None
    book.ready.park(group, obstacle.token)


def _was_passed(book: Book, group: Group) -> bool:
    """Has a task that is not more urgent taken what the group waits for since it was last turned away?"""
    priority = group.head.task.priority
    return any(
        attempt > group.seen and book.running[attempt].record.task.priority >= priority
        for attempt in book.held.conflicts(group.key.claims)
    )


def _is_next_at_bottleneck(book: Book, group: Group, holder: Running) -> bool:
    """Would the group start as soon as the holder ends, and does that claim alone decide how long the run takes?

    Then its other claims are kept free for it: a pause there would pause the whole run.
    """
    hottest = max(group.key.claims.write, key=book.ready.demand, default="")
    slots = sum(host.width for host in group.pool.hosts)
    turns_left = book.ready.demand(hottest) if hottest else 0
    if turns_left * slots < group.pool.run.unfinished or hottest not in holder.claims.write:
        return False
    if any(hottest in other.key.claims.write for other in book.ready.reservations):
        return False
    return all(other == holder.attempt for other in book.held.conflicts(group.key.claims))


def _host_for(book: Book, group: Group, round_: _Round) -> HostState | None:
    kind = group.key.kind
    hosts = group.pool.hosts
    wants_room = group.key.barrier or group.key.resources
    if len(hosts) > WAITED_FOR_MAX and not wants_room:
        return _host_of_many(book, group, round_)
    free = [host for host in hosts if (host.name, kind) not in round_.shut and host_obstacle(host, group) is None]
    busy = _busy(group, free, round_) if len(free) < len(hosts) and (wants_room or free) else []
    while free:
        if len(free) == 1 and not busy:
            chosen = free[0]
        else:
            others = needed_elsewhere(group.pool, free, round_.open) if len(free) > 1 else NO_OTHERS
            behind = len(group.queue) - 1
            choice = choose(free, busy, kind, book.at, round_.waiting, group.waits_since, behind, others)
            if choice.host is None:
                if group.waits_since is None:
                    group.waits_since = book.at
                # The better slot may not come.
                book.look_again(book.at + max(choice.worth_waiting_s, 0.05))
                return None
            chosen = choice.host
        start_at, _ = chosen.limit.start_at(book.at, kind, group.head.seen_bytes)
        if start_at <= book.at:
            return chosen
        if not math.isinf(start_at):
            book.look_again(start_at)
        round_.shut.add((chosen.name, kind))
        free.remove(chosen)
    if busy and (group.key.barrier or group.key.resources) and group.keeps is None:
        _ask_for_room(book, group, busy)
    return None


def _host_of_many(book: Book, group: Group, round_: _Round) -> HostState | None:
    """Like `choose`, but looks at each host once a round instead of at each start. No task waits for a faster host."""
    if not book.with_room:
        return None
    pool = group.pool
    kind = pool.kind
    heap = round_.emptiest.get((kind, pool.form, pool.host))
    if heap is None:
        places = pool.places
        with_room = [host for name, host in book.with_room.items() if name in places]
        heap = [(_rank(host, kind), places[host.name], host) for host in with_room]
        heapq.heapify(heap)
        round_.emptiest[kind, pool.form, pool.host] = heap
    while heap:
        ranked, place, host = heap[0]
        rank = _rank(host, kind)
        if rank != ranked:  # something started there since
            heapq.heapreplace(heap, (rank, place, host))
        elif (host.name, kind) in round_.shut or host_obstacle(host, group) is not None:
            heapq.heappop(heap)
        elif (start_at := host.limit.start_at(book.at, kind, group.head.seen_bytes)[0]) <= book.at:
            return host
        else:
            if not math.isinf(start_at):
                book.look_again(start_at)
            round_.shut.add((host.name, kind))
    return None


def _rank(host: HostState, kind: str) -> tuple[bool, float, float]:
    """The fastest first, then the emptiest; fallbacks last. A host that is not known yet is tried before the others."""
    return host.host.fallback, host.usual_s(kind) or 0.0, len(host.running) / host.width if host.width else 1.0


def _busy(group: Group, free: list[HostState], round_: _Round) -> list[HostState]:
    """Hosts that could take it if less ran there now."""
    kind = group.key.kind
    return [
        host
        for host in group.pool.hosts
        if host not in free
        and (host.name, kind) not in round_.shut
        and host.paused is None
        and host.barrier is None
        and host.kept_by in (None, group.key.barrier)
        and not is_kept_from(host, group)
        and could_ever_take(host, group)
    ]


def _ask_for_room(book: Book, group: Group, busy: list[HostState]) -> None:
    """Keep the host that is nearest to empty for the group: nothing more starts there until its task has started.

    A task that wants its host alone gets this at once, because it would hardly ever find the host empty. A task that
    asks for resources gets it only after others passed it again and again.
    """
    if not group.key.barrier:
        newest = max((attempt for host in busy for attempt in host.running), default=0)
        if group.seen and newest > group.seen:
            group.bypassed += 1
        group.seen = book.last_attempt
        if group.bypassed < BYPASSES_MAX:
            return
    book.ready.keep_host(group, min(busy, key=lambda host: len(host.running)))


def _start(book: Book, group: Group, host: HostState) -> None:
    record = book.ready.take_head(group)
    book.last_attempt += 1
    event = AttemptStarted(book.at, book.last_attempt, record.run, record.task.id, host.name)
    if host.host.lease_s is not None:
        wish = wish_for(host, record)
        assert wish is not None
        event = replace(event, puller=wish.puller, lease_until=book.at + host.host.lease_s)
    past = record.history
    last = record.last_ending if past is not None and len(past) > record.told_from else None
    attempts.begin(book, event, record)
    book.decisions.append(event)
    assert record.history is not None
    number = len(record.history)
    if book.budgets:
        book.spending_changed = True
        budgets.review(book)
    run = book.runs[record.run]
    task = with_lessons(record.task, run.about)
    order = StartAttempt(
        event.attempt, run.name, task, number, host.name, last, record.origin, record.guidance, run.purpose
    )
    book.commands.append(order)


def _preempt(book: Book) -> None:
    """Stop attempts that are in the way of critical tasks, if the critical tasks can start then."""
    ready = book.ready
    if not any(is_willing(one) and one.stop_why is None for one in book.running.values()):
        return
    outlook = Outlook(book.running.values())
    for group in list(ready.critical)[:CRITICAL_MAX]:
        if group.head.task.priority != 0:
            del ready.critical[group]  # the critical ones have started
            continue
        obstacle = group_obstacle(group, book.held, book.running, ready)
        if _is_held_up(group) or (obstacle is not None and obstacle.what != "claim"):
            continue
        for _ in range(_critical_at_once(group, len(book.running))):
            victims = outlook.victims(group, book.held.conflicts(group.key.claims), book.at)
            if victims is None:
                break
            made_way = Cause(CausedBy.ENGINE, f"made way for {group.head.task.id}")
            for one in victims:
                intake.stop(book, one.record, EndingKind.PREEMPTED, made_way)


def _critical_at_once(group: Group, most: int) -> int:
    """How many of the group's critical tasks could run at the same time."""
    if group.key.claims.write or group.key.barrier:
        return 1
    return min(most, sum(1 for entry in group.queue if entry[0] == 0))
