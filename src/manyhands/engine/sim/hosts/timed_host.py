"""A host that takes exactly as long as it is told, whatever else runs: for studying order, claims and scale alone."""

import heapq
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import DONE
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick


class TimedShare(Share, frozen=True):
    seconds: float  # mean


class Timed(Struct, frozen=True):
    mix: tuple[TimedShare, ...] = ()  # none: every job takes a second
    seconds_sigma: float = 0.5


A_SECOND_EACH = Timed()


class TimedHost:
    def __init__(self, parameters: Timed = A_SECOND_EACH) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = False
        self._ends: list[tuple[float, int]] = []

    def first_outputs(self, now: float) -> list[int]:
        return []

    def draw(self, random: Random, kind: str = "") -> Job:
        parameters = self.parameters
        if not parameters.mix:
            return Job(kind, work=1.0, seconds=1.0)
        share = pick(random, parameters.mix, kind)
        return Job(share.kind, work=1.0, seconds=log_normal(random, share.seconds, parameters.seconds_sigma))

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        heapq.heappush(self._ends, (now + job.seconds, attempt))

    def cancel(self, now: float, attempt: int) -> None:
        self._ends = [end for end in self._ends if end[1] != attempt]
        heapq.heapify(self._ends)

    def next_event_at(self) -> float:
        return self._ends[0][0] if self._ends else NEVER

    def advance(self, now: float) -> list[Finished]:
        done: list[Finished] = []
        while self._ends and self._ends[0][0] <= now:
            at, attempt = heapq.heappop(self._ends)
            done.append(Finished(at, attempt, DONE))
        return done

    def reading(self, now: float) -> Reading | None:
        return None
