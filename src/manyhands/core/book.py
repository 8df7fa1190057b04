"""The book the scheduler keeps: all state in one place, and the few changes that every event is made of.

Only the scheduler and the modules it calls (`intake`, `attempts`, `starting`, `rules`) write here.
"""

import heapq
from collections.abc import Callable

from manyhands.core.claims import Holdings
from manyhands.core.commands import AnyCommand
from manyhands.core.events import Decision
from manyhands.core.model import TERMINAL, Host, Rule, TaskState
from manyhands.core.placement import takes
from manyhands.core.ready import ReadySet
from manyhands.core.state import HostState, Record, Run, Running
from manyhands.core.transitions import TRANSITIONS
from manyhands.core.widths import Limit
from manyhands.errors import IllegalTransition


class Book:
    def __init__(self, limit_for: Callable[[Host], Limit]) -> None:
        self.limit_for = limit_for
        self.runs: dict[str, Run] = {}
        self.hosts: dict[str, HostState] = {}
        self.rules: tuple[Rule, ...] = ()
        self.running: dict[int, Running] = {}
        self.held = Holdings()
        self.ready = ReadySet(self._hosts_for)
        self.last_attempt = 0
        self.last_number = 0
        self.at = 0.0
        self.replaying = False  # decisions come from the journal; nothing is decided and nothing queued
        self.decisions: list[Decision] = []
        self.commands: list[AnyCommand] = []
        self.to_retry: list[Record] = []  # in backoff, with no time set yet
        self.unsettled: dict[str, Run] = {}  # runs that may have come to rest
        self._timers: list[tuple[float, int, Record | None]] = []
        self._timers_set = 0

    def become(self, record: Record, state: TaskState, cause: str = "") -> None:
        """The only place a task's state changes."""
        was = record.state
        if state not in TRANSITIONS[was]:
            raise IllegalTransition(
                f"task {record.task.id} of run {record.run} is {was} and cannot become {state} at {self.at:.3f}"
            )
        run = self.runs[record.run]
        run.counts[was] -= 1
        run.counts[state] += 1
        record.state = state
        record.since = self.at
        record.cause = cause
        record.held = False
        if state in TERMINAL:
            self._count_unfinished(run, record, -1)
        elif was in TERMINAL:
            self._count_unfinished(run, record, +1)

    def enter(self, record: Record) -> None:
        """A task comes into the book, in the state it says."""
        run = self.runs[record.run]
        run.records[record.task.id] = record
        run.counts[record.state] += 1
        if record.state not in TERMINAL:
            self._count_unfinished(run, record, +1)

    def _count_unfinished(self, run: Run, record: Record, sign: int) -> None:
        kind = record.task.kind
        run.left_of_kind[kind] = run.left_of_kind.get(kind, 0) + sign
        run.unfinished += sign
        run.ended_at = None if run.unfinished else self.at
        if not self.replaying:
            self.ready.want(record, sign)

    def queue(self, record: Record) -> None:
        """A task whose needs are done takes its place among the ready, or is put off with its pool."""
        run = self.runs[record.run]
        if self.replaying:
            self.become(record, TaskState.READY)
            return
        pool = self.ready.add(run, record).pool
        if pool.held_by:
            self.hold(record, pool.held_by)
        elif record.state is not TaskState.READY:
            self.become(record, TaskState.READY)

    def unqueue(self, record: Record) -> None:
        """It is no longer to be started: take it from among the ready, if it is there."""
        if (record.state is TaskState.READY or record.held) and not self.replaying:
            self.ready.remove(record, self.runs[record.run])

    def hold(self, record: Record, rule: str) -> None:
        """An ordering rule puts it off: it keeps its place among the ready, with its whole pool."""
        self.become(record, TaskState.DEFERRED, rule)
        record.held = True

    def touch(self, run: Run) -> None:
        run.settled = False
        self.unsettled[run.name] = run

    def set_timer(self, at: float, record: Record | None = None) -> None:
        self._timers_set += 1
        heapq.heappush(self._timers, (at, self._timers_set, record))

    def due(self, at: float) -> list[Record]:
        """The tasks with a timer that has run out. A timer whose reason is gone is just a spare look."""
        due: list[Record] = []
        while self._timers and self._timers[0][0] <= at:
            record = heapq.heappop(self._timers)[2]
            if record is not None:
                due.append(record)
        return due

    def next_timer(self) -> float | None:
        return self._timers[0][0] if self._timers else None

    def configure(self, hosts: tuple[Host, ...], rules: tuple[Rule, ...]) -> None:
        """Hosts that stay keep what they have learned; their attempts in flight are never forgotten."""
        kept = self.hosts
        self.hosts = {}
        for host in hosts:
            old = kept.get(host.name)
            state = HostState(host, old.limit if old and old.host == host else self.limit_for(host))
            state.area_at = self.at
            if old:
                state.running, state.used, state.barrier = old.running, old.used, old.barrier
                for kind, lane in old.lanes.items():
                    now = state.lane(kind)
                    now.in_flight, now.peak, now.usual_s = lane.in_flight, lane.peak, lane.usual_s
                for running in state.running.values():
                    running.host = state
            self.hosts[host.name] = state
        for name, old in kept.items():
            if name not in self.hosts and old.running:
                old.paused = "no longer in the config"
                self.hosts[name] = old
        self.rules = rules
        for pool in self.ready.pools.values():
            pool.hosts = self._hosts_for(pool.kind, pool.form, pool.host)

    def _hosts_for(self, kind: str, form: str, wanted: str) -> list[HostState]:
        return [state for state in self.hosts.values() if takes(state.host, kind, form, wanted)]
