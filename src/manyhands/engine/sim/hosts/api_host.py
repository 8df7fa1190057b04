"""A hosted API with request and token budgets per minute.

Latency does not depend on the load. A refused call gets a 429 with Retry-After and still costs some budget.
"""

import heapq
import math
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick

REFUSAL_TAKES_S = 0.3


class CallShare(Share, frozen=True):
    tokens: float  # mean


class Api(Struct, frozen=True):
    mix: tuple[CallShare, ...]
    requests_per_minute: float
    tokens_per_minute: float
    requests_burst: float
    tokens_burst: float
    latency_s: float  # of a call of `latency_tokens`
    latency_tokens: float = 1500
    tokens_sigma: float = 0.5
    latency_sigma: float = 0.35
    refusal_cost: float = 0.25  # requests a refused call still costs
    tells_budget: bool = False  # sends rate-limit headers


class ApiHost:
    def __init__(self, parameters: Api) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = False
        self._requests = parameters.requests_burst
        self._tokens = parameters.tokens_burst
        self._now = 0.0
        self._ends: list[tuple[float, int, Ending]] = []

    def first_outputs(self, now: float) -> list[int]:
        return []

    def draw(self, random: Random, kind: str = "") -> Job:
        parameters = self.parameters
        share = pick(random, parameters.mix, kind)
        tokens = max(50.0, log_normal(random, share.tokens, parameters.tokens_sigma))
        usual_s = parameters.latency_s * tokens / parameters.latency_tokens
        seconds = log_normal(random, usual_s, parameters.latency_sigma)
        return Job(share.kind, work=tokens, tokens_out=tokens, seconds=seconds)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        parameters = self.parameters
        self._refill(now)
        tokens = min(job.tokens_in + job.tokens_out, parameters.tokens_burst)
        if self._requests >= 1 and self._tokens >= tokens:
            self._requests -= 1
            self._tokens -= tokens
            done = Ending(EndingKind.DONE, tokens_in=int(job.tokens_in), tokens_out=max(1, int(job.tokens_out)))
            heapq.heappush(self._ends, (now + job.seconds, attempt, done))
            return
        wait_s = max(
            (1 - self._requests) / (parameters.requests_per_minute / 60),
            (tokens - self._tokens) / (parameters.tokens_per_minute / 60),
            0.0,
        )
        self._requests = max(self._requests - parameters.refusal_cost, -0.5 * parameters.requests_burst)
        self.overloads += 1
        refused = Ending(
            EndingKind.OVERLOADED,
            detail="429 too many requests",
            rate_limited=True,
            retry_after_s=float(min(60, math.ceil(wait_s))),
        )
        heapq.heappush(self._ends, (now + REFUSAL_TAKES_S, attempt, refused))

    def cancel(self, now: float, attempt: int) -> None:
        self._ends = [end for end in self._ends if end[1] != attempt]
        heapq.heapify(self._ends)

    def next_event_at(self) -> float:
        return self._ends[0][0] if self._ends else NEVER

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while self._ends and self._ends[0][0] <= now:
            at, attempt, ending = heapq.heappop(self._ends)
            finished.append(Finished(at, attempt, ending))
        return finished

    def reading(self, now: float) -> Reading | None:
        if not self.parameters.tells_budget:
            return None
        self._refill(now)
        return Reading(
            at=now,
            source="headers",
            requests_per_minute=self.parameters.requests_per_minute,
            requests_left=max(0.0, self._requests),
            tokens_per_minute=self.parameters.tokens_per_minute,
            tokens_left=max(0.0, self._tokens),
        )

    def _refill(self, now: float) -> None:
        parameters = self.parameters
        passed = now - self._now
        self._now = now
        self._requests = min(parameters.requests_burst, self._requests + passed * parameters.requests_per_minute / 60)
        self._tokens = min(parameters.tokens_burst, self._tokens + passed * parameters.tokens_per_minute / 60)
