"""The book of the scheduler: all state in one place, and the few changes that make up every event.

Only the scheduler and the modules it calls (`intake`, `attempts`, `starting`, `rules`) write here.
"""

import heapq
from collections.abc import Callable
from typing import cast

from manyhands.core.claims import Holdings
from manyhands.core.clutch.limit_choice import AnyLimit
from manyhands.core.commands import AnyCommand
from manyhands.core.events import Decision
from manyhands.core.learning import Memory, is_adaptive
from manyhands.core.outbox import Outbox
from manyhands.core.placement import takes
from manyhands.core.ready import ReadySet
from manyhands.core.state import FamilyState, HostState, Record, Run, Running
from manyhands.core.transitions import TRANSITIONS
from manyhands.core.values.host import Family, Host, Route, Rule
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.provenance import NO_CAUSE, Cause, CausedBy
from manyhands.core.values.spending_limit import SpendingLedger, SpendingLimit
from manyhands.core.values.task import TERMINAL, Task, TaskState
from manyhands.core.values.widths import Limit
from manyhands.errors import IllegalTransition

#: With fewer timers than this it does not pay to drop the stale ones.
TIMERS_MIN = 1024


class Book:
    def __init__(self, limit_for: Callable[[Host, HostMemory | None], Limit]) -> None:
        # Only the simulator uses limits outside the union, and it does not load snapshots with them.
        self.limit_for = cast(Callable[[Host, HostMemory | None], AnyLimit], limit_for)
        self.memory = Memory()
        self.runs: dict[str, Run] = {}
        self.schedules: dict[str, tuple[str, float]] = {}  # source of runs → its schedule, and until when it is kept
        self.hosts: dict[str, HostState] = {}
        self.with_room: dict[str, HostState] = {}  # hosts with less in flight than their width
        self.to_learn: dict[str, HostState] = {}  # hosts whose widths may have to move
        self.quiet_hosts: list[HostState] = []  # those with quiet hours
        self.rules: tuple[Rule, ...] = ()
        self.families: dict[str, Family] = {}  # safest first
        self.families_to_review: dict[str, Run] = {}  # runs in which a family may have a next step
        self.outbox = Outbox()
        self.budgets: tuple[SpendingLimit, ...] = ()
        self.ledger = SpendingLedger()
        self.spending_changed = True  # budgets must be looked at again
        self.running: dict[int, Running] = {}
        self.held = Holdings()
        self.ready = ReadySet(self._hosts_for)
        self.last_attempt = 0
        self.last_number = 0
        self.at = 0.0
        self.replaying = False  # decisions come from the journal, so nothing is decided or queued
        self.decisions: list[Decision] = []
        self.commands: list[AnyCommand] = []
        self.to_retry: dict[int, Record] = {}  # by number: in backoff, with no time set yet
        self.leases_due: dict[int, Running] = {}  # leases that may have run out
        self.unsettled: dict[str, Run] = {}  # runs that may have come to rest
        self.rules_to_review = False
        self.wake_at: float | None = None  # the alarm that was asked for
        self.look_at: float | None = None  # when a waiting task may start even if no event comes
        self.changed_for: list[dict[int, Record]] = []  # each follower gets the tasks that changed, by number
        self._timers: list[tuple[float, int, Record | None]] = []
        self._timers_set = 0
        self._sift_timers_at = TIMERS_MIN

    def become(self, record: Record, state: TaskState, cause: Cause = NO_CAUSE) -> None:
        """The only place a task's state changes."""
        was = record.state
        if state not in TRANSITIONS[was]:
            raise IllegalTransition(
                f"task {record.task.id} of run {record.run} is {was} and cannot become {state} at {self.at:.3f}"
            )
        run = self.runs[record.run]
        run.counts[was] -= 1
        run.counts[state] += 1
        of_kind = run.counts_of_kind[record.task.kind]
        of_kind[was] -= 1
        of_kind[state] += 1
        record.state = state
        record.since = self.at
        record.cause = cause
        record.held = False
        record.question = None
        if self.changed_for:
            self.note_change(record)
        if state in TERMINAL:
            self._count_unfinished(run, record, -1)
        elif was in TERMINAL:
            self._count_unfinished(run, record, +1)

    def note_change(self, record: Record) -> None:
        for changed in self.changed_for:
            changed[record.number] = record

    def enter(self, record: Record) -> None:
        """Add a task to the book, in the state that its record says."""
        run = self.runs[record.run]
        run.records[record.task.id] = record
        run.counts[record.state] += 1
        self._of_kind(run, record.task.kind)[record.state] += 1
        if record.task.family:
            self._join_family(run, record, record.task.family)
        if self.changed_for:
            self.note_change(record)
        if record.state not in TERMINAL:
            self._count_unfinished(run, record, +1)

    def _join_family(self, run: Run, record: Record, family: str) -> None:
        run.families.setdefault(family, FamilyState())
        run.members.setdefault(family, []).append(record)

    def change_task(self, record: Record, task: Task) -> None:
        """Replace a task that is not queued by what the backlog says now."""
        run = self.runs[record.run]
        self._count_unfinished(run, record, -1)
        run.counts_of_kind[record.task.kind][record.state] -= 1
        if record.task.family != task.family:
            if record.task.family:
                run.members[record.task.family].remove(record)
            if task.family:
                self._join_family(run, record, task.family)
        record.task = task
        self._of_kind(run, task.kind)[record.state] += 1
        self._count_unfinished(run, record, +1)

    def _of_kind(self, run: Run, kind: str) -> dict[TaskState, int]:
        counts = run.counts_of_kind.get(kind)
        if counts is None:
            counts = run.counts_of_kind[kind] = dict.fromkeys(TaskState, 0)
        return counts

    def _count_unfinished(self, run: Run, record: Record, sign: int) -> None:
        kind = record.task.kind
        run.left_of_kind[kind] = run.left_of_kind.get(kind, 0) + sign
        run.unfinished += sign
        run.ended_at = None if run.unfinished else self.at
        if not self.replaying:
            self.ready.want(record, sign)

    def queue(self, record: Record) -> None:
        """Give a task whose needs are done its place among the ready tasks, or put it off with its pool."""
        run = self.runs[record.run]
        if self.replaying:
            self.become(record, TaskState.READY)
            return
        pool = self.ready.add(run, record).pool
        if pool.held_by is not None:
            self.hold(record, pool.held_by)
        elif record.state is not TaskState.READY:
            self.become(record, TaskState.READY)

    def unqueue(self, record: Record) -> None:
        """Take a task that must not start any more from the ready tasks, if it is there."""
        if (record.state is TaskState.READY or record.held) and not self.replaying:
            self.ready.remove(record, self.runs[record.run])

    def hold(self, record: Record, rule: Rule) -> None:
        """An ordering rule puts it off, with its whole pool. It keeps its place among the ready tasks."""
        since = self.at if record.state is not TaskState.READY else record.since
        if record.state is not TaskState.DEFERRED:
            self.become(record, TaskState.DEFERRED)
        record.cause, record.held, record.since = Cause(CausedBy.RULE, str(rule)), True, since

    def free(self, record: Record) -> None:
        """The rule no longer puts it off. It counts as waiting since it was first ready, as the journal says."""
        since = record.since
        self.become(record, TaskState.READY)
        record.since = since

    def touch(self, run: Run) -> None:
        run.settled = False
        self.unsettled[run.name] = run
        if run.families:
            self.families_to_review[run.name] = run

    def put_away(self, name: str) -> None:
        """Drop a run that has ended. A run with anything left to do or to deliver stays: others refer to it."""
        run = self.runs.get(name)
        if run is None or run.unfinished or self.outbox.has_letters_of(name):
            return
        del self.runs[name]
        self.families_to_review.pop(name, None)
        self.ready.forget_idle_pools(run)

    def set_timer(self, at: float, record: Record | None = None) -> None:
        self._timers_set += 1
        heapq.heappush(self._timers, (at, self._timers_set, record))
        if len(self._timers) > self._sift_timers_at:
            self._sift_timers()

    def _sift_timers(self) -> None:
        """Drop timers that are no longer needed, mostly time-outs of attempts that ended long before."""
        self._timers = [timer for timer in self._timers if self._is_wanted(*timer)]
        heapq.heapify(self._timers)
        self._sift_timers_at = max(TIMERS_MIN, 2 * len(self._timers))

    def _is_wanted(self, at: float, _: int, record: Record | None) -> bool:
        if record is None:
            return any(_is_due(host, at) for host in self.hosts.values())
        if record.state is TaskState.BACKOFF:
            return record.until <= at
        if record.state is not TaskState.RUNNING or not record.history:
            return False
        tried, timeout_s = record.history[-1], record.task.timeout
        running = self.running[tried.attempt]
        if running.lease is not None and running.lease.until <= at and running.lease.handed_in is None:
            return True
        # If it was already told to stop, the timer is not needed.
        return timeout_s is not None and tried.started_at + timeout_s <= at and running.stop_why is None

    def look_again(self, at: float) -> None:
        self.look_at = at if self.look_at is None else min(at, self.look_at)

    def due(self, at: float) -> list[Record]:
        """The tasks with a timer that has run out."""
        due: list[Record] = []
        while self._timers and self._timers[0][0] <= at:
            record = heapq.heappop(self._timers)[2]
            if record is not None:
                due.append(record)
        return due

    def next_timer(self) -> float | None:
        while self._timers and not self._is_wanted(*self._timers[0]):
            heapq.heappop(self._timers)
        if not self._timers:
            return self.look_at
        timer = self._timers[0][0]
        return timer if self.look_at is None else min(timer, self.look_at)

    def configure(
        self,
        hosts: tuple[Host, ...],
        rules: tuple[Rule, ...],
        families: tuple[Family, ...] = (),
        routes: tuple[Route, ...] = (),
        budgets: tuple[SpendingLimit, ...] = (),
    ) -> None:
        """Replace the config. Hosts that stay keep what they learned and were told. No running attempt is forgotten."""
        kept = self.hosts
        self.hosts = {}
        for old in kept.values():
            old.advance(self.at)
            if old.kept_for is not None:
                self.ready.let_host_go(old.kept_for)
        for host in hosts:
            state = self.hosts[host.name] = self._host_state(host, kept.get(host.name))
            state.configured_at = state.area_at = self.at
        for name, old in kept.items():
            if name not in self.hosts and (old.running or old.kept_by):
                old.is_gone = True
                old.pause("no longer in the config", None)
                self.hosts[name] = old
        self.look_at_hosts()
        self.rules = rules
        self.rules_to_review = True
        self.budgets, self.spending_changed = budgets, True
        self.outbox.routes = {route.app: route for route in routes}
        self.families = self._with_those_at_work(families)
        self.families_to_review = {run.name: run for run in self.runs.values() if run.families}
        for pool in self.ready.pools.values():
            pool.goes_to(self._hosts_for(pool.kind, pool.form, pool.host))

    def look_at_hosts(self) -> None:
        """The hosts have changed: rebuild what is kept about them between turns."""
        self.to_learn = dict(self.hosts)
        self.with_room = {}
        self.quiet_hosts = [host for host in self.hosts.values() if host.host.quiet or host.quiet_until is not None]
        for host in self.hosts.values():
            self.note_room(host)

    def note_room(self, host: HostState) -> None:
        """Update whether a host has room: its width or what it has in flight has changed."""
        if len(host.running) < host.width:
            self.with_room[host.name] = host
        else:
            self.with_room.pop(host.name, None)

    def _with_those_at_work(self, families: tuple[Family, ...]) -> dict[str, Family]:
        """Safest first. In the middle of a round a family stays on its host, even if the config no longer has it."""
        wanted = {family.name: family for family in families}
        for name, old in self.families.items():
            at_work = any(name in run.families and run.families[name].phase != "over" for run in self.runs.values())
            if at_work and (name not in wanted or wanted[name].host != old.host):
                wanted[name] = old
        return {family.name: family for family in sorted(wanted.values(), key=lambda family: family.rank)}

    def _host_state(self, host: Host, old: HostState | None) -> HostState:
        """A host that stays keeps all that it has, except for what is named here."""
        if old is not None:
            self.memory.take_in(old.host, old.limit)
        limit = self.limit_for(host, self.memory.of(host))
        state = HostState(host, limit, limit.width, limit.reason)
        if is_adaptive(host):
            state.difficulty = self.memory.difficulty_of(host.name, self.at)
            state.width = 0  # so that its first width is a move with a reason, like any other
        return state if old is None else self._reconfigured(old, state)

    def _reconfigured(self, old: HostState, fresh: HostState) -> HostState:
        old.host, old.limit, old.difficulty = fresh.host, fresh.limit, fresh.difficulty
        old.refused = old.trials = 0
        old.on_trial = False
        if old.is_gone:
            old.is_gone = False
            old.resume()
        if old.pinned is None:
            old.width, old.reason = fresh.width, fresh.reason
        for kind, lane in old.lanes.items():
            lane.width, lane.why = old.lane_bound(kind, old.width)
        return old

    def learned(self) -> Memory:
        """What another session would begin with, if this one ended now."""
        for state in self.hosts.values():
            self.memory.take_in(state.host, state.limit)
        return self.memory

    def forget(self, host: str, kind: str) -> None:
        """Idle hosts start from nothing at once. A busy host keeps the width that it is learning now."""
        self.memory.forget(host, kind)
        self.to_learn = dict(self.hosts)
        for state in self.hosts.values():
            if host in ("", state.name) and not kind and state.difficulty is not None:
                # Always the object in memory, because a snapshot does not save one that only the host has.
                state.difficulty = self.memory.difficulty_of(state.name, self.at)
                if not state.running:
                    state.limit = self.limit_for(state.host, None)

    def _hosts_for(self, kind: str, form: str, wanted: str) -> list[HostState]:
        return [state for state in self.hosts.values() if takes(state.host, kind, form, wanted)]


def _is_due(host: HostState, at: float) -> bool:
    """Does something that keeps it from starting tasks end by then, or the wait of an agent?"""
    if host.paused_until is not None and host.paused_until <= at:
        return True
    if host.quiet_until is not None and host.quiet_until <= at:
        return True
    hold = host.budget_hold
    if hold is not None and hold.until is not None and hold.until <= at:
        return True
    return any(wish.until <= at for wish in host.wishes.values())
