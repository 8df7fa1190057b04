"""A host as `manyhands tune` measured it: what it gets done at each width, and the width from which on it refuses."""

import math
from bisect import bisect_right
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, log_normal

REFUSAL_TAKES_S = 1.0


class Measured(Struct, frozen=True):
    goodput: tuple[tuple[int, float], ...]  # (width, attempts done a second), from narrow to wide
    refuses_above: int = 0  # 0: it refused nothing
    seconds_sigma: float = 0.3
    cores: int = 0  # 0: no probe shows the machine
    shows_output: bool = False


class _Attempt(Struct):
    job: Job
    ends_at: float  # in work done by each attempt since the beginning


class MeasuredHost:
    """All attempts in flight share what the host gets done at that width."""

    def __init__(self, parameters: Measured) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = parameters.shows_output
        self._now = 0.0
        self._done_each = 0.0
        self._running: dict[int, _Attempt] = {}
        self._refused: list[tuple[float, int]] = []
        self._begun: list[int] = []

    def first_outputs(self, now: float) -> list[int]:
        begun, self._begun = self._begun, []
        return begun if self.shows_output else []

    def draw(self, random: Random, kind: str = "") -> Job:
        return Job(kind, work=log_normal(random, 1.0, self.parameters.seconds_sigma))

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        self._live_until(now)
        most = self.parameters.refuses_above
        if most and len(self._running) >= most:
            self.overloads += 1
            self._refused.append((now + REFUSAL_TAKES_S, attempt))
            return
        self._running[attempt] = _Attempt(job, self._done_each + job.work)
        self._begun.append(attempt)

    def cancel(self, now: float, attempt: int) -> None:
        self._live_until(now)
        self._running.pop(attempt, None)
        self._refused = [each for each in self._refused if each[1] != attempt]

    def next_event_at(self) -> float:
        refused_at = self._refused[0][0] if self._refused else NEVER
        if not self._running:
            return refused_at
        first = min(attempt.ends_at for attempt in self._running.values())
        return min(refused_at, self._now + max(0.0, first - self._done_each) / self._pace_each() + 1e-9)

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while (at := self.next_event_at()) <= now:
            self._live_until(at)
            while self._refused and self._refused[0][0] <= at:
                finished.append(Finished(at, self._refused.pop(0)[1], Ending(EndingKind.OVERLOADED, "refused")))
            for attempt in [name for name, each in self._running.items() if each.ends_at <= self._done_each + 1e-9]:
                del self._running[attempt]
                finished.append(Finished(at, attempt, DONE))
        self._live_until(now)
        return finished

    def reading(self, now: float) -> Reading | None:
        if not self.parameters.cores:
            return None
        return Reading(now, "local", cores=self.parameters.cores, attempt_bytes=dict.fromkeys(self._running, 1))

    def _live_until(self, now: float) -> None:
        passed_s, self._now = now - self._now, now
        if passed_s > 0 and self._running:
            self._done_each += passed_s * self._pace_each()

    def _pace_each(self) -> float:
        """Attempts done a second for each in flight. Between two measured widths goodput is a power of the width."""
        steps, in_flight = self.parameters.goodput, len(self._running)
        above = bisect_right(steps, in_flight, key=lambda step: step[0])
        if above == 0:  # narrower than any that was measured: no faster each
            return steps[0][1] / steps[0][0]
        if above == len(steps):  # wider: no more in all
            return steps[-1][1] / in_flight
        (low, low_per_s), (high, high_per_s) = steps[above - 1 : above + 1]
        share = math.log(in_flight / low) / math.log(high / low)
        return low_per_s * math.pow(high_per_s / low_per_s, share) / in_flight
