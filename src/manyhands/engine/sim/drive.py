"""Runs one limit on one simulated host, with a backlog of the host's mix: the shortest loop that measures a limit.

It keeps as many attempts in flight as the limit allows and retries those that did not end well. With the same seed,
every limit gets the same tasks in the same order.
"""

import heapq
import math
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Limit, Sample
from manyhands.engine.sim.hosts.simulated_host import Job, SimulatedHost

TICK_S = 1.0
BACKOFF_MAX_S = 30.0


class DriveOutcome(Struct):
    """The result of a drive."""

    seconds: float = 0.0  # until the last task was done, or the whole time of an endless backlog
    work: float = 0.0
    done: int = 0
    starts: int = 0
    overloads: int = 0
    kills: int = 0
    refused: int = 0  # 429s
    mean_in_flight: float = 0.0
    moves: list[tuple[float, int, str]] = []  # (at, width, reason), where asked for
    done_at: list[float] = []

    @property
    def goodput(self) -> float:
        return self.work / self.seconds if self.seconds else 0.0


class _Task(Struct):
    job: Job
    failures: int = 0
    seen_bytes: int = 0  # when it ran out of memory


class _Attempt(Struct):
    task: _Task
    started_at: float
    width: int
    in_flight_s: float  # the integral at the start


class Drive:
    def __init__(
        self,
        host: SimulatedHost,
        limit: Limit,
        seed: int,
        seconds: float = math.inf,
        tasks: int | None = None,
        black_box: bool = False,
        trace: bool = False,
        tick_s: float = TICK_S,
    ) -> None:
        self.host = host
        self.limit = limit
        self.outcome = DriveOutcome()
        self._seconds = seconds
        self._left = tasks  # None: an endless backlog
        self._unfinished = tasks
        self._black_box = black_box  # no probe, no memory seen: endings alone
        self._trace = trace
        self._tick_s = tick_s
        self._draws = Random(seed * 104729 + 7)
        self._jitter = Random(seed * 31337 + 3)
        self._now = 0.0
        self._attempts: dict[int, _Attempt] = {}
        self._in_flight_s = 0.0  # ∫ in flight dt
        self._retries: list[tuple[float, int, _Task]] = []
        self._held: _Task | None = None  # drawn, but not let in yet
        self._wake_at = math.inf
        self._next = 0

    def run(self) -> DriveOutcome:
        host, limit = self.host, self.limit
        tick_at = 0.0
        while self._unfinished is None or self._unfinished > 0:
            retry_at = self._retries[0][0] if self._retries else math.inf
            if retry_at <= self._now:
                retry_at = math.inf  # it is due already and waits for room
            now = min(host.next_event_at(), tick_at, self._wake_at, retry_at)
            if now > self._seconds:
                self._pass(self._seconds)
                break
            self._pass(now)
            finished = host.advance(now)
            if not self._black_box and host.shows_output:
                for attempt in host.first_outputs(now):
                    limit.showed(now, attempt)
            for each in finished:
                self._end(each.attempt, each.ending)
            if now >= tick_at:
                if not self._black_box and (reading := host.reading(now)) is not None:
                    limit.read(reading)
                limit.tick(now)
                tick_at = now + self._tick_s
            elif not finished and now < self._wake_at and now < retry_at:
                continue
            self._fill()
            if self._trace and (not self.outcome.moves or self.outcome.moves[-1][1] != limit.width):
                self.outcome.moves.append((now, limit.width, limit.reason))
        outcome = self.outcome
        outcome.seconds = self._now
        outcome.overloads, outcome.kills = host.overloads, host.kills
        outcome.mean_in_flight = self._in_flight_s / max(1e-9, self._now)
        return outcome

    def _pass(self, now: float) -> None:
        self._in_flight_s += len(self._attempts) * (now - self._now)
        self._now = now

    def _take(self) -> _Task | None:
        if self._retries and self._retries[0][0] <= self._now:
            return heapq.heappop(self._retries)[2]
        # A task keeps its place while it waits until its delay has passed.
        if len(self._attempts) + len(self._retries) >= self.limit.width:
            return None
        if self._held is not None:
            task, self._held = self._held, None
            return task
        if self._left is not None:
            if self._left == 0:
                return None
            self._left -= 1
        return _Task(self.host.draw(self._draws))

    def _fill(self) -> None:
        limit, now = self.limit, self._now
        self._wake_at = math.inf
        while len(self._attempts) < limit.width:
            task = self._take()
            if task is None:
                return
            start_at, _ = limit.start_at(now, task.job.kind, task.seen_bytes)
            if start_at > now:
                self._wake_at = start_at
                if task.failures:
                    self._next += 1
                    heapq.heappush(self._retries, (now, self._next, task))
                else:
                    self._held = task
                return
            self._start(task)

    def _start(self, task: _Task) -> None:
        self._next += 1
        attempt = self._next
        self._attempts[attempt] = _Attempt(task, self._now, self.limit.width, self._in_flight_s)
        self.outcome.starts += 1
        self.limit.started(self._now, attempt, task.job.kind, len(self._attempts))
        self.host.submit(self._now, attempt, task.job, task.failures == 0)

    def _end(self, number: int, ending: Ending) -> None:
        now, outcome = self._now, self.outcome
        attempt = self._attempts[number]
        task = attempt.task
        took_s = max(1e-6, now - attempt.started_at)
        self.limit.observe(
            Sample(
                at=now,
                started_at=attempt.started_at,
                attempt=number,
                kind=task.job.kind,
                in_flight=(self._in_flight_s - attempt.in_flight_s) / took_s,
                width=attempt.width,
                ending=ending.kind,
                rate_limited=ending.rate_limited,
                quota=ending.quota,
                retry_after_s=ending.retry_after_s,
                unreachable=ending.unreachable,
                tokens_in=ending.tokens_in,
                tokens_out=ending.tokens_out,
                memory_bytes=0 if self._black_box else ending.memory_bytes,
            )
        )
        del self._attempts[number]
        if ending.kind is EndingKind.DONE:
            outcome.work += task.job.work
            outcome.done += 1
            if self._unfinished is not None:
                self._unfinished -= 1
            if self._trace:
                outcome.done_at.append(now)
            return
        outcome.refused += ending.rate_limited
        self._retry(task, ending)

    def _retry(self, task: _Task, ending: Ending) -> None:
        task.failures += 1
        wait_s = 0.0
        if ending.kind is EndingKind.OVERLOADED and ending.memory_bytes:
            task.seen_bytes = 0 if self._black_box else max(task.seen_bytes, ending.memory_bytes)
        else:
            doubling_s = min(BACKOFF_MAX_S, 2.0 ** min(task.failures - 1, 5))
            wait_s = max(
                (ending.retry_after_s or 0.0) * (1 + 0.25 * self._jitter.random()),
                doubling_s * (0.5 + 0.5 * self._jitter.random()),
            )
        self._next += 1
        heapq.heappush(self._retries, (self._now + wait_s, self._next, task))
