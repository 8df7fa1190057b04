"""A model server with continuous batching and a bounded KV cache, like vLLM.

Every running sequence gains one token per step. A step takes `step_s + step_per_sequence_s × running`, so throughput
saturates while latency keeps rising. Prefill stalls decoding. When the cache overflows, the newest sequence is
preempted
and later recomputed. As demand grows beyond the cache, the prefix hit rate falls to zero.
"""

import heapq
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick


class TokenShare(Share, frozen=True):
    prompt: float  # mean tokens
    answer: float


class Batching(Struct, frozen=True):
    """The parameters."""

    mix: tuple[TokenShare, ...]
    step_s: float = 0.020
    step_per_sequence_s: float = 0.0008
    cache_tokens: float = 250_000
    prefill_per_s: float = 6000
    prefix_hits: float = 0.8
    thrash: float = 0.3  # the demand beyond the cache, as a share of the cache, at which no prefix is found
    prompt_sigma: float = 0.4
    answer_sigma: float = 0.6
    sequences_max: int = 256
    capacity: tuple[tuple[float, float], ...] = ()  # (at, share of the full speed and cache from then on)
    shows_metrics: bool = True
    streams: bool = True  # it is seen when an answer begins


class _Sequence(Struct):
    attempt: int
    job: Job
    generated: float = 0.0  # before the last preemption
    held: float = 0.0  # cache tokens when it was last admitted
    admitted_at: float = 0.0  # in steps
    finishes_at: float = 0.0  # in steps
    admissions: int = 0


class BatchingHost:
    def __init__(self, parameters: Batching) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = parameters.streams
        self._silent: dict[int, None] = {}  # admitted, and no token answered yet
        self._now = 0.0
        self._steps = 0.0  # decode steps since the start: the clock the sequences share
        self._running: dict[int, _Sequence] = {}  # the newest last
        self._waiting: list[_Sequence] = []
        self._waiting_tokens = 0.0
        self._ends: list[tuple[float, int, int]] = []  # (step, attempt, admission)
        self._held = 0.0  # Σ held of running
        self._admitted = 0.0  # Σ admitted_at of running
        self._stall_s = 0.0  # prefill still to do
        self._capacity = 1.0
        self._changes = list(parameters.capacity)
        self._answered = 0.0  # tokens of sequences that have ended
        self._next_at = NEVER
        self._plan()

    def first_outputs(self, now: float) -> list[int]:
        self._live_until(now)
        begun = [
            each for each in self._silent if each in self._running and self._steps > self._running[each].admitted_at
        ]
        for attempt in begun:
            del self._silent[attempt]
        return begun

    def draw(self, random: Random, kind: str = "") -> Job:
        parameters = self.parameters
        share = pick(random, parameters.mix, kind)
        prompt = max(16.0, log_normal(random, share.prompt, parameters.prompt_sigma))
        answer = max(4.0, log_normal(random, share.answer, parameters.answer_sigma))
        return Job(share.kind, work=answer, tokens_in=prompt, tokens_out=answer)

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        self._live_until(now)
        self._queue(_Sequence(attempt, job), len(self._waiting))
        if self.shows_output:
            self._silent[attempt] = None
        self._admit()
        self._plan()

    def cancel(self, now: float, attempt: int) -> None:
        self._live_until(now)
        self._silent.pop(attempt, None)
        sequence = self._running.get(attempt)
        if sequence is not None:
            self._remove(sequence)
        else:
            for index, waiting in enumerate(self._waiting):
                if waiting.attempt == attempt:
                    self._unqueue(index)
                    break
        self._admit()
        self._plan()

    def next_event_at(self) -> float:
        return self._next_at

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while self._next_at <= now:
            at = self._next_at
            self._live_until(at)
            if self._changes and self._changes[0][0] <= at:
                self._capacity = self._changes.pop(0)[1]
            for sequence in self._pop_ended():
                self._silent.pop(sequence.attempt, None)
                self._answered += sequence.job.tokens_out
                finished.append(Finished(at, sequence.attempt, _done(sequence.job)))
            self._preempt()
            self._admit()
            self._plan()
        self._live_until(now)
        return finished

    def reading(self, now: float) -> Reading | None:
        if not self.parameters.shows_metrics:
            return None
        self._live_until(now)
        return Reading(
            at=now,
            source="vllm",
            running=len(self._running),
            waiting=len(self._waiting),
            kv_use=min(1.0, self._cache_used() / self._cache()),
            preemptions=self.overloads,
            tokens_total=int(self._answered + sum(self._generated(each) for each in self._running.values())),
        )

    def _generated(self, sequence: _Sequence) -> float:
        return sequence.generated + self._steps - sequence.admitted_at

    def _cache(self) -> float:
        return self.parameters.cache_tokens * self._capacity

    def _cache_used(self) -> float:
        return self._held + len(self._running) * self._steps - self._admitted

    def _steps_per_s(self) -> float:
        parameters = self.parameters
        step_s = parameters.step_s + parameters.step_per_sequence_s * len(self._running)
        return self._capacity / step_s

    def _live_until(self, now: float) -> None:
        passed = now - self._now
        self._now = now
        if passed <= 0:
            return
        if self._stall_s > 0:
            stalled = min(self._stall_s, passed)
            self._stall_s -= stalled
            passed -= stalled
        if passed > 0 and self._running:
            self._steps += passed * self._steps_per_s()

    def _hit_rate(self) -> float:
        cache = self._cache()
        over = max(0.0, self._cache_used() + self._waiting_tokens - cache) / (self.parameters.thrash * cache)
        return self.parameters.prefix_hits * max(0.0, 1 - over)

    def _queue(self, sequence: _Sequence, index: int) -> None:
        self._waiting.insert(index, sequence)
        self._waiting_tokens += sequence.job.tokens_in + sequence.generated

    def _unqueue(self, index: int) -> _Sequence:
        sequence = self._waiting.pop(index)
        self._waiting_tokens -= sequence.job.tokens_in + sequence.generated
        return sequence

    def _admit(self) -> None:
        cache = self._cache()
        while self._waiting and len(self._running) < self.parameters.sequences_max:
            head = self._waiting[0]
            context = head.job.tokens_in + head.generated
            if self._running and self._cache_used() + context + 0.002 * cache > cache:
                return
            sequence = self._unqueue(0)
            # A preempted sequence is recomputed whole; a new one finds part of its prompt cached.
            prefill = context if sequence.generated > 0 else context * (1 - self._hit_rate())
            self._stall_s += prefill / (self.parameters.prefill_per_s * self._capacity)
            sequence.admissions += 1
            sequence.admitted_at = self._steps
            sequence.finishes_at = self._steps + sequence.job.tokens_out - sequence.generated
            sequence.held = context
            self._running[sequence.attempt] = sequence
            self._held += context
            self._admitted += sequence.admitted_at
            heapq.heappush(self._ends, (sequence.finishes_at, sequence.attempt, sequence.admissions))

    def _remove(self, sequence: _Sequence) -> None:
        del self._running[sequence.attempt]
        self._held -= sequence.held
        self._admitted -= sequence.admitted_at

    def _preempt(self) -> None:
        cache = self._cache() * 1.0000001
        while len(self._running) > 1 and self._cache_used() > cache:
            newest = self._running[next(reversed(self._running))]
            self._remove(newest)
            newest.generated += self._steps - newest.admitted_at
            self._queue(newest, 0)
            self.overloads += 1

    def _next_end(self) -> _Sequence | None:
        """The running sequence that ends first. Entries of preempted and cancelled sequences are dropped."""
        while self._ends:
            _, attempt, admission = self._ends[0]
            sequence = self._running.get(attempt)
            if sequence is not None and sequence.admissions == admission:
                return sequence
            heapq.heappop(self._ends)
        return None

    def _pop_ended(self) -> list[_Sequence]:
        ended: list[_Sequence] = []
        while (sequence := self._next_end()) is not None and sequence.finishes_at <= self._steps + 1e-7:
            heapq.heappop(self._ends)
            self._remove(sequence)
            ended.append(sequence)
        return ended

    def _plan(self) -> None:
        self._next_at = self._changes[0][0] if self._changes else NEVER
        sequence = self._next_end()
        if sequence is None:
            return
        steps_per_s = self._steps_per_s()
        decoding_at = self._now + self._stall_s
        self._next_at = min(self._next_at, decoding_at + max(0.0, (sequence.finishes_at - self._steps) / steps_per_s))
        running = len(self._running)
        if running > 1:
            free = self._cache() - self._cache_used()
            full_at = decoding_at + max(0.0, free / (running * steps_per_s)) + 1e-6
            self._next_at = min(self._next_at, full_at)


def _done(job: Job) -> Ending:
    return Ending(EndingKind.DONE, tokens_in=int(job.tokens_in), tokens_out=max(1, int(job.tokens_out)))
