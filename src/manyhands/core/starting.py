"""Start what may start, best first, until nothing more can."""

import math

from manyhands.core import attempts, intake
from manyhands.core.book import Book
from manyhands.core.commands import StartAttempt
from manyhands.core.events import AttemptStarted
from manyhands.core.model import EndingKind
from manyhands.core.obstacles import Obstacle, group_obstacle, host_obstacle, run_obstacle
from manyhands.core.placement import choose
from manyhands.core.preemption import victims
from manyhands.core.ready import Group
from manyhands.core.state import HostState, Running

#: A wide claim that later tasks of its urgency keep getting past is let first after so many times.
BYPASSES_MAX = 8


class _Round:
    """What one pass has found out about the hosts so far."""

    def __init__(self, book: Book) -> None:
        self.open = [pool for pool in book.ready.pools.values() if pool.heap]
        self.waiting: dict[str, int] = {}  # host → tasks that rather wait for it than start elsewhere
        self.shut: set[tuple[str, str]] = set()  # (host, kind) that rates or memory keep shut for now
        self.aside: list[Group] = []  # could not go now, though others of their pool may


def start_what_may(book: Book) -> None:
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
            round_.aside.append(group)
            book.ready.set_aside(group)
        else:
            round_.open.remove(pool)
    for group in round_.aside:
        book.ready.put_back(group)
    _preempt(book)


def _first(book: Book, round_: _Round) -> Group | None:
    best: Group | None = None
    for pool in round_.open:
        group = book.ready.peek(pool)
        if group is not None and (best is None or group.order < best.order):  # type: ignore[operator]
            best = group
    return best


def _turn_away(book: Book, group: Group, obstacle: Obstacle) -> None:
    holder = obstacle.holder
    if holder is not None:
        head = group.head.task
        if group.seen and holder.attempt > group.seen and holder.record.task.priority >= head.priority:
            group.bypassed += 1
            if group.bypassed >= BYPASSES_MAX and not group.reserved:
                book.ready.reserve(group)
        elif not group.reserved and _is_next_at_bottleneck(book, group, holder):
            book.ready.reserve(group)
        group.seen = book.last_attempt
        if head.priority == 0:
            for one in victims([holder], 1):
                intake.stop(book, one.record, EndingKind.PREEMPTED, f"made way for {head.id}")
    assert obstacle.token is not None
    book.ready.park(group, obstacle.token)


def _is_next_at_bottleneck(book: Book, group: Group, holder: Running) -> bool:
    """Would it go as soon as the holder of a claim ends that alone decides how long the rest takes?

    Then its other claims are kept free for it: a pause there would be a pause of the whole run.
    """
    hottest = max(group.key.claims.write, key=lambda pattern: book.ready.demand.get(pattern, 0), default="")
    slots = sum(host.width for host in group.pool.hosts)
    turns_left = book.ready.demand.get(hottest, 0)
    if turns_left * slots < group.pool.run.unfinished or hottest not in holder.claims.write:
        return False
    if any(hottest in other.key.claims.write for other in book.ready.reservations):
        return False
    return all(other == holder.attempt for other in book.held.conflicts(group.key.claims))


def _host_for(book: Book, group: Group, round_: _Round) -> HostState | None:
    kind = group.key.kind
    free: list[HostState] = []
    busy: list[HostState] = []
    for host in group.pool.hosts:
        if (host.name, kind) in round_.shut:
            continue
        if host_obstacle(host, group) is None:
            free.append(host)
        elif host.paused is None and host.barrier is None:
            busy.append(host)
    while free:
        if len(free) == 1 and not busy:
            chosen = free[0]
        else:
            choice = choose(free, busy, kind, book.at, round_.waiting)
            if choice.host is None:
                # Look again when the better slot was expected: it may not come.
                book.set_timer(book.at + max(choice.worth_waiting_s, 0.05))
                return None
            chosen = choice.host
        start_at = chosen.limit.start_at(book.at, kind)
        if start_at <= book.at:
            return chosen
        if not math.isinf(start_at):
            book.set_timer(start_at)
        round_.shut.add((chosen.name, kind))
        free.remove(chosen)
    if group.key.barrier:
        _keep_free_for(group, busy)
    return None


def _keep_free_for(group: Group, busy: list[HostState]) -> None:
    """Nothing more starts on the host that is nearest to empty, until the task that wants it alone has run."""
    waits_already = any(host.barrier is group.head for host in group.pool.hosts)
    if busy and not waits_already:
        min(busy, key=lambda host: len(host.running)).barrier = group.head


def _start(book: Book, group: Group, host: HostState) -> None:
    record = book.ready.take_head(group)
    book.last_attempt += 1
    event = AttemptStarted(book.at, book.last_attempt, record.run, record.task.id, host.name)
    last = record.last_ending
    attempts.begin(book, event, record)
    book.decisions.append(event)
    assert record.history is not None
    book.commands.append(StartAttempt(event.attempt, record.run, record.task, len(record.history), host.name, last))


def _preempt(book: Book) -> None:
    """Critical tasks that found no room have as many preemptible attempts stopped as they are."""
    for pool in book.ready.pools.values():
        group = book.ready.peek(pool) if pool.heap else None
        if group is None or group.head.task.priority != 0 or run_obstacle(pool) is not None:
            continue
        critical = sum(1 for _, _, other in pool.heap if other.order for entry in other.queue if entry[0] == 0)
        in_the_way = [one for host in pool.hosts if host.paused is None for one in host.running.values()]
        for one in victims(in_the_way, critical):
            intake.stop(book, one.record, EndingKind.PREEMPTED, f"made way for {group.head.task.id}")
