"""Any host, with times at which it is dead. Attempts in flight are lost then, and new ones are refused at once."""

import heapq
from random import Random

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, SimulatedHost

REFUSAL_TAKES_S = 0.05


class OutageHost:
    def __init__(self, host: SimulatedHost, outages: tuple[tuple[float, float], ...]) -> None:
        self._host = host
        self._outages = list(outages)  # (from, until), in order, apart
        self._dead_until = -1.0
        self._in_flight: dict[int, None] = {}
        self._refused: list[tuple[float, int]] = []
        self._refusals = 0

    @property
    def overloads(self) -> int:
        return self._host.overloads + self._refusals

    @property
    def kills(self) -> int:
        return self._host.kills

    @property
    def shows_output(self) -> bool:
        return self._host.shows_output

    def first_outputs(self, now: float) -> list[int]:
        return self._host.first_outputs(now)

    def draw(self, random: Random, kind: str = "") -> Job:
        return self._host.draw(random, kind)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        if now < self._dead_until:
            heapq.heappush(self._refused, (now + REFUSAL_TAKES_S, attempt))
        else:
            self._in_flight[attempt] = None
            self._host.submit(now, attempt, job, first)

    def cancel(self, now: float, attempt: int) -> None:
        if self._in_flight.pop(attempt, 0) is None:
            self._host.cancel(now, attempt)
        self._refused = [each for each in self._refused if each[1] != attempt]
        heapq.heapify(self._refused)

    def next_event_at(self) -> float:
        dies_at = self._outages[0][0] if self._outages else NEVER
        refused_at = self._refused[0][0] if self._refused else NEVER
        return min(dies_at, refused_at, self._host.next_event_at())

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while (at := self.next_event_at()) <= now:
            if self._outages and self._outages[0][0] <= at:
                finished += self._die(at)
            elif self._refused and self._refused[0][0] <= at:
                _, attempt = heapq.heappop(self._refused)
                self._refusals += 1
                unreachable = Ending(EndingKind.OVERLOADED, detail="connection refused", unreachable=True)
                finished.append(Finished(at, attempt, unreachable))
            else:
                for each in self._host.advance(at):
                    del self._in_flight[each.attempt]
                    finished.append(each)
        return finished

    def reading(self, now: float) -> Reading | None:
        return None if now < self._dead_until else self._host.reading(now)

    def _die(self, at: float) -> list[Finished]:
        _, self._dead_until = self._outages.pop(0)
        lost = Ending(EndingKind.LOST, detail="the host died")
        killed = [Finished(at, attempt, lost) for attempt in self._in_flight]
        for attempt in self._in_flight:
            self._host.cancel(at, attempt)
        self._in_flight = {}
        return killed
