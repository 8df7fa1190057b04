"""A server with a number of slots and a bounded queue that answers 503 beyond it, like Ollama.

Sizes are heavy-tailed, latency is noisy, and some attempts fail for reasons unrelated to load.
"""

import heapq
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick

REFUSAL_TAKES_S = 0.05


class SizeShare(Share, frozen=True):
    seconds: float  # mean


class Slots(Struct, frozen=True):
    mix: tuple[SizeShare, ...]
    slots: int = 16
    queue_max: int = 48
    slowdown: float = 0.003  # per attempt beyond the slots
    noise_sigma: float = 0.5
    size_sigma: float = 0.6
    errors: float = 0.01  # share of tasks whose first attempt fails for unrelated reasons
    changes: tuple[tuple[float, int], ...] = ()  # (at, slots from then on)
    streams: bool = True  # it is seen when an attempt leaves the queue
    refuses_rate: bool = False  # says 429 for "too many at once", as some gateways do


class SlotHost:
    def __init__(self, parameters: Slots) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = parameters.streams
        self._begun: list[int] = []
        self._slots = parameters.slots
        self._changes = list(parameters.changes)
        self._busy: set[int] = set()
        self._queue: list[tuple[int, Job, bool]] = []
        self._ends: list[tuple[float, int, Ending]] = []

    def first_outputs(self, now: float) -> list[int]:
        begun, self._begun = self._begun, []
        return begun

    def draw(self, random: Random, kind: str = "") -> Job:
        parameters = self.parameters
        share = pick(random, parameters.mix, kind)
        size = max(0.3, log_normal(random, share.seconds, parameters.size_sigma))
        noise = log_normal(random, 1.0, parameters.noise_sigma)
        fails = random.random() < parameters.errors
        fails_after = random.random()
        return Job(share.kind, work=size, seconds=size * noise, fails_after=fails_after if fails else None)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        if len(self._busy) < self._slots:
            self._start(now, attempt, job, first)
        elif len(self._queue) < self.parameters.queue_max:
            self._queue.append((attempt, job, first))
        else:
            self.overloads += 1
            busy = Ending(EndingKind.OVERLOADED, detail="503 busy", rate_limited=self.parameters.refuses_rate)
            heapq.heappush(self._ends, (now + REFUSAL_TAKES_S, attempt, busy))

    def cancel(self, now: float, attempt: int) -> None:
        self._queue = [each for each in self._queue if each[0] != attempt]
        self._ends = [end for end in self._ends if end[1] != attempt]
        heapq.heapify(self._ends)
        self._busy.discard(attempt)
        self._fill(now)

    def next_event_at(self) -> float:
        change_at = self._changes[0][0] if self._changes else NEVER
        return min(change_at, self._ends[0][0]) if self._ends else change_at

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while (at := self.next_event_at()) <= now:
            if self._changes and self._changes[0][0] == at:
                self._slots = self._changes.pop(0)[1]
            else:
                _, attempt, ending = heapq.heappop(self._ends)
                self._busy.discard(attempt)
                finished.append(Finished(at, attempt, ending))
            self._fill(at)
        return finished

    def reading(self, now: float) -> Reading | None:
        return None

    def _fill(self, now: float) -> None:
        while self._queue and len(self._busy) < self._slots:
            self._start(now, *self._queue.pop(0))

    def _start(self, now: float, attempt: int, job: Job, first: bool) -> None:
        self._busy.add(attempt)
        if self.shows_output:
            self._begun.append(attempt)
        beyond = max(0, len(self._busy) + len(self._queue) - self._slots)
        seconds = job.seconds * (1 + self.parameters.slowdown * beyond)
        ending = Ending(EndingKind.DONE)
        if first and job.fails_after is not None:
            seconds *= job.fails_after
            ending = Ending(EndingKind.FAILED, detail="an error that has nothing to do with load")
        heapq.heappush(self._ends, (now + seconds, attempt, ending))
