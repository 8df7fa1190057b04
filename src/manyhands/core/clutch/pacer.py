"""When the next start may happen: budgets per minute, stated or learned, Retry-After and used-up quotas.

A refused rate says nothing about how much a host can bear at once, so none of this touches the width.

The budget of a host is empty whenever it refuses. So what it accepted between two refusals, divided by the time between
them, is what flows in, however fast or slow we went. Between refusals the rate follows a cubic, as in TCP CUBIC: it
begins a little under what is known, goes slowly past it, and grows fast when nothing is refused.
"""

import math

from msgspec import Struct

from manyhands.core.values.host import Rate
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample

WINDOW_S = 120.0  # how long starts are remembered
#: At the first refusal the budget is taken to have held this many seconds of its inflow.
FIRST_DEPTH_S = 3.0
#: Until a second refusal has measured it, the rate doubles this often while starts wait for it.
DOUBLE_S = 2.0
UNDER = 0.05  # how far under the known rate it begins after a refusal
#: Seconds until it is back at the known rate: half as long as what is known rests on, within these bounds.
BACK_S = (6.0, 60.0)
FADE_S = 60.0  # what was seen longer ago weighs less
REMEMBERED_S = 30.0  # the most that a rate of an earlier run weighs
GROWTH_MAX = 8.0  # times the known rate, in one quiet spell
HELD_S = 2.0  # quiet seconds count only while starts have waited for the rate within this
RATE_MIN_PER_S = 0.02
RETRY_MAX_S = 60.0  # longer is a quota, and is waited out whole
TOKENS_MARGIN = 3.0  # a start waits for this many times its usual tokens: calls differ in length
SEEN_MIN = 5
ACCEPTED_MIN = 3  # fewer accepted starts tell no rate
BURST_TRUST = 0.8
#: Seconds of an unmeasured rate that may be taken at once.
BURST_S = 0.7
#: Seconds of a stated budget that may be taken at once: servers count in buckets of about a second.
STATED_BURST_S = 0.8
#: A stated rate is undercut only when the host keeps refusing it: it was measured to accept less than this share of it.
STATED_SHARE, STATED_EPISODES = 0.85, 3


class Start(Struct, array_like=True, gc=False):
    at: float
    cost: float
    accepted: bool


class KindTokens(Struct):
    seen: int = 0
    mean: float = 0.0

    def learn(self, tokens: float) -> None:
        self.seen += 1
        self.mean += (tokens - self.mean) / min(self.seen, 200)


class Bucket(Struct):
    """A budget the host or the config states. It may be overdrawn once, and then has to recover."""

    per_s: float
    burst: float
    level: float
    at: float = 0.0
    told: bool = False  # by the server: its own count is the truth

    def level_at(self, at: float) -> float:
        return max(self.level, min(self.burst, self.level + (at - self.at) * self.per_s))

    def take(self, at: float, cost: float) -> None:
        self.level = self.level_at(at) - cost
        self.at = at

    def ready_at(self, at: float, cost: float) -> float:
        lacks = min(cost, self.burst) - self.level_at(at)
        return at if lacks <= 1e-9 else at + lacks / self.per_s

    @classmethod
    def per_minute(cls, amount: float) -> "Bucket":
        burst = max(1.0, STATED_BURST_S * amount / 60)
        return cls(amount / 60, burst, burst)


class Pacer(Struct):
    requests: Bucket | None = None
    tokens: Bucket | None = None
    rate_per_s: float | None = None  # learned, in usual attempts; None: never refused
    base_per_s: float = 0.0  # what the rate grows from until it has been measured
    known_per_s: float | None = None  # what the host was seen to sustain between refusals
    known_starts: float = 0.0
    known_s: float = 0.0  # over how long, of late
    depth: float = 0.0  # starts the host takes at once after a rest; 0: not known
    first_starts: float = 0.0  # accepted before the first refusal
    first_s: float = 0.0  # and the time that took; 0: never refused in this run
    level: float = 1.0
    level_at: float = 0.0
    held_at: float = -1e9  # when a start last used up what the learned rate allows
    quiet_s: float = 0.0  # since the last refusal, in which starts waited for the rate
    empty_at: float | None = None  # when the budget was last known to be empty; at first, when the first start was
    paused_from: float = -1.0
    paused_until: float = 0.0
    pause_reason: str = ""
    refusals: int = 0
    episodes: int = 0
    starts: dict[int, Start] = {}  # by attempt, those since the budget was last empty, oldest first
    usual: dict[str, KindTokens] = {}

    @classmethod
    def begin(cls, rate: Rate | None, memory: HostMemory | None) -> "Pacer":
        pacer = cls()
        if rate is not None and rate.requests_per_minute:
            pacer.requests = Bucket.per_minute(rate.requests_per_minute)
        if rate is not None and rate.tokens_per_minute:
            pacer.tokens = Bucket.per_minute(rate.tokens_per_minute)
        if memory is not None and memory.rate_per_s and pacer.requests is None:
            pacer.rate_per_s = pacer.base_per_s = memory.rate_per_s
            if memory.rate_s:
                pacer.known_per_s = memory.rate_per_s
                pacer.known_s = min(REMEMBERED_S, memory.rate_s)
                pacer.known_starts = pacer.known_per_s * pacer.known_s
            pacer.depth = memory.burst
            pacer.level = max(1.0, BURST_TRUST * memory.burst)
        return pacer

    def cost(self, kind: str) -> float:
        """What a start of this kind takes of the learned rate: its usual tokens beside everyone's."""
        usual = self.usual.get(kind)
        if usual is None or usual.seen < SEEN_MIN:
            return 1.0
        seen = sum(each.seen for each in self.usual.values())
        return usual.mean * seen / sum(each.seen * each.mean for each in self.usual.values())

    def start_at(self, at: float, kind: str) -> tuple[float, str]:
        """When the next of this kind may start, and why not now. Asking changes nothing."""
        if at < self.paused_until:
            return self.paused_until, self.pause_reason
        if self.requests is not None and (ready_at := self.requests.ready_at(at, 1.0)) > at:
            return ready_at, f"paced to {60 * self.requests.per_s:.0f} requests per minute"
        if self.tokens is not None:
            usual = self.usual.get(kind)
            ready_at = self.tokens.ready_at(at, TOKENS_MARGIN * usual.mean if usual else 1.0)
            if ready_at > at:
                return ready_at, f"paced to {60 * self.tokens.per_s:.0f} tokens per minute"
        if self.rate_per_s is None:
            return at, ""
        level = self._level(at, self.rate_per_s)
        if level > 1e-9:
            return at, ""
        return at + (0.001 - level) / self.rate_per_s, self._paced_to(self.rate_per_s)

    def started(self, at: float, attempt: int, kind: str) -> None:
        cost = self.cost(kind)
        self.starts[attempt] = Start(at, cost, True)
        if self.empty_at is None:
            self.empty_at = at
        if self.rate_per_s is not None:
            self.level = self._level(at, self.rate_per_s) - cost
            self.level_at = at
            if self.level <= 0:
                self.held_at = at
        if self.requests is not None:
            self.requests.take(at, 1.0)
        if self.tokens is not None:
            usual = self.usual.get(kind)
            self.tokens.take(at, usual.mean if usual else 0.0)

    def done(self, sample: Sample) -> None:
        if not sample.tokens:
            return
        usual = self.usual.setdefault(sample.kind, KindTokens())
        if self.tokens is not None and not self.tokens.told:  # what it took beyond what was set aside for it
            self.tokens.take(sample.at, sample.tokens - usual.mean)
        usual.learn(sample.tokens)

    def refused(self, sample: Sample) -> None:
        """A 429, or a quota that is used up."""
        at = sample.at
        if sample.quota:
            wait_s = sample.retry_after_s or 0.0
            self.paused_until = max(self.paused_until, at + wait_s)
            self.pause_reason = f"its quota is used up; it said to come back in {wait_s:.0f} s"
            return
        wait_s = sample.retry_after_s or 1.0
        self.refusals += 1
        start = self.starts.get(sample.attempt)
        started_at = start.at if start is not None else at
        if start is not None:
            start.accepted = False
        if started_at > self.paused_from:  # it left after the last pause began: another episode
            self._learn(started_at)
            self.paused_from = at
        elif self.empty_at is not None:
            self.empty_at = max(self.empty_at, started_at)
        self.paused_until = max(self.paused_until, at + min(wait_s, RETRY_MAX_S))
        self.pause_reason = f"it refused the rate ({self.refusals} times so far) and said to wait {wait_s:.0f} s"

    def read(self, reading: Reading) -> None:
        """Budgets stated in a server's headers are what holds, whatever was configured or learned."""
        if reading.requests_per_minute and reading.requests_left is not None:
            self.requests = _stated(reading.requests_per_minute, reading.requests_left, reading.at)
        if reading.tokens_per_minute and reading.tokens_left is not None:
            self.tokens = _stated(reading.tokens_per_minute, reading.tokens_left, reading.at)

    def tick(self, at: float, passed_s: float) -> None:
        while self.starts and self.starts[oldest := next(iter(self.starts))].at < at - WINDOW_S:
            del self.starts[oldest]
        if self.rate_per_s is None or at - self.held_at > HELD_S or at <= self.paused_until:
            return  # untested, it does not grow
        self.level, self.level_at = self._level(at, self.rate_per_s), at
        self.quiet_s += passed_s
        self.rate_per_s = self._rate()

    @property
    def is_measured(self) -> bool:
        return self.known_per_s is not None

    def _paced_to(self, rate_per_s: float) -> str:
        per_minute = 60 * rate_per_s
        if self.known_per_s is not None:
            return f"paced to {per_minute:.0f} per minute; it was seen to accept {60 * self.known_per_s:.0f}"
        return f"paced to {per_minute:.0f} per minute until it is clear what it accepts"

    def _level(self, at: float, rate_per_s: float) -> float:
        full = max(1.0, BURST_TRUST * self.depth if self.depth else BURST_S * rate_per_s)
        return max(self.level, min(full, self.level + (at - self.level_at) * rate_per_s))

    def _learn(self, refused_at: float) -> None:
        """The budget was empty when this start left."""
        since = self.empty_at if self.empty_at is not None else refused_at
        took_s = max(0.1, refused_at - since)
        accepted = sum(start.cost for start in self.starts.values() if start.accepted and start.at <= refused_at)
        if self.rate_per_s is None and self.known_per_s is None and accepted < ACCEPTED_MIN:
            return  # a host that refuses the very first calls says when to come back, and no more
        self.episodes += 1
        self.starts = {attempt: start for attempt, start in self.starts.items() if start.at > refused_at}
        if self.episodes == 1 and self.known_per_s is None:
            # It was full before, nobody knows by how much: a first guess, which grows fast.
            self.first_starts, self.first_s = accepted, took_s
            guess = max(RATE_MIN_PER_S, accepted / (took_s + FIRST_DEPTH_S))
            self.base_per_s = max(guess, 0.5 * (self.rate_per_s or 0.0))
        else:
            self._measure(accepted, took_s, since)
        self.empty_at, self.quiet_s = refused_at, 0.0
        self.level, self.level_at = 0.0, refused_at
        if self._may_undercut():
            self.rate_per_s = self._rate()

    def _measure(self, accepted: float, took_s: float, since: float) -> None:
        if self.depth and self.known_per_s:
            # What flowed in while the budget was full again went unused: that time does not count.
            idle_s = max(0.0, self.paused_until - since)
            took_s = max(0.3 * took_s, took_s - max(0.0, idle_s - self.depth / self.known_per_s))
        keep = math.exp(-took_s / FADE_S)
        self.known_starts = keep * self.known_starts + accepted
        self.known_s = keep * self.known_s + took_s
        self.known_per_s = max(RATE_MIN_PER_S, self.known_starts / self.known_s)
        if self.first_s:
            self.depth = max(1.0, self.first_starts - self.known_per_s * self.first_s)

    def _may_undercut(self) -> bool:
        """A rate that a person or the server stated holds until the host was measured to refuse it."""
        if self.requests is None:
            return True
        if self.known_per_s is None or self.episodes < STATED_EPISODES:
            return False
        return self.known_per_s < STATED_SHARE * self.requests.per_s

    def _rate(self) -> float:
        if self.known_per_s is None:
            return self.base_per_s * math.exp2(self.quiet_s / DOUBLE_S)
        back_s = max(BACK_S[0], min(BACK_S[1], 0.5 * self.known_s))
        return self.known_per_s * min(GROWTH_MAX, 1 + UNDER * (self.quiet_s / back_s - 1) ** 3)


def _stated(per_minute: float, left: float, at: float) -> Bucket:
    per_s = per_minute / 60
    return Bucket(per_s, max(1.0, 1.5 * per_s, left), left, at, told=True)
