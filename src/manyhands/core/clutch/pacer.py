"""When the next start may happen: budgets per minute, stated or learned, Retry-After and used-up quotas.

A refused rate says nothing about how much a host can bear at once, so none of this touches the width.
"""

from msgspec import Struct

from manyhands.core.values.host import Rate
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample

WINDOW_S = 60.0  # how long starts are remembered
FIRST_WINDOW_S = 20.0  # over which the accepted rate is taken at the first refusal
BACK_OFF, BACK_OFF_AGAIN = 0.97, 0.9  # of the known rate; the second when one episode follows another
AGAIN_S = 15.0
EPISODE_S = (3.0, 15.0)  # a Retry-After within these bounds is the length of one episode
KNOWN_S = 60.0  # a rate measured over this long weighs as much as all that was believed before
GROWTH_PER_START = 0.0003  # slow enough that about one start in a hundred is refused
GROWTH_PER_S_MAX = 0.003
UNSURE_GROWTH = 4.0  # times faster while the rate rests on seconds
OVERFLOW = 0.25
CLEAN_STARTS = 400  # after so many without a refusal the host has probably become faster: growth quickens
UNTESTED_GROWTH_PER_S = 0.02  # a remembered rate that was never refused in this run
CLEAN_S = 5.0
RATE_MIN_PER_S = 0.02
RETRY_MAX_S = 60.0  # longer is a quota, and is waited out whole
TOKENS_MARGIN = 3.0  # a start waits for this many times its usual tokens: calls differ in length
ACCEPTED_MIN = 5  # fewer accepted starts tell no rate
SEEN_MIN = 5
BURST_TRUST = 0.8


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
    def per_minute(cls, amount: float, at: float) -> "Bucket":
        # Starts are paced, not burst: a second and a half of the budget may be taken at once.
        burst = max(1.0, 1.5 * amount / 60)
        return cls(amount / 60, burst, burst, at)


class Pacer(Struct):
    requests: Bucket | None = None
    tokens: Bucket | None = None
    rate_per_s: float | None = None  # learned, in usual attempts; None: never refused
    burst: float = 0.0  # learned by an earlier run: starts the host takes at once after a rest
    level: float = 1.0
    level_at: float = 0.0
    held_at: float = -1e9  # when a start last used up what the learned rate allows
    paused_until: float = 0.0
    pause_reason: str = ""
    refusals: int = 0
    refused_at: float = -1e9
    cut_at: float = -1e9
    taken: float = 0.0  # cost accepted since the last cut
    clean_starts: int = 0  # since the last refusal
    known_per_s: float | None = None  # what the host was seen to sustain between refusals
    known_s: float = 0.0  # over how long, of late
    starts: dict[int, Start] = {}  # by attempt, the last minute's, oldest first
    before_refusal: list[float] = []  # accepted per second in the minute before the first refusal, latest first
    usual: dict[str, KindTokens] = {}

    @classmethod
    def begin(cls, rate: Rate | None, memory: HostMemory | None) -> "Pacer":
        pacer = cls()
        if rate is not None and rate.requests_per_minute:
            pacer.requests = Bucket.per_minute(rate.requests_per_minute, 0.0)
        if rate is not None and rate.tokens_per_minute:
            pacer.tokens = Bucket.per_minute(rate.tokens_per_minute, 0.0)
        if memory is not None and memory.rate_per_s:
            pacer.rate_per_s = memory.rate_per_s
            pacer.burst = memory.burst
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
        if level > 0:
            return at, ""
        per_minute = 60 * self.rate_per_s
        return at + (0.001 - level) / self.rate_per_s, f"paced to the {per_minute:.0f} per minute it accepts"

    def started(self, at: float, attempt: int, kind: str) -> None:
        cost = self.cost(kind)
        self.starts[attempt] = Start(at, cost, True)
        self.taken += cost
        self.clean_starts += 1
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

    def refused(self, sample: Sample) -> str:
        """A 429. Returns what follows from it, for people."""
        at, wait_s = sample.at, sample.retry_after_s or 1.0
        start = self.starts.get(sample.attempt)
        if start is not None:
            start.accepted = False
            if start.at >= self.cut_at:
                self.taken -= start.cost
        if sample.quota:
            wait_s = sample.retry_after_s or 0.0
            self.paused_until = max(self.paused_until, at + wait_s)
            self.pause_reason = f"quota used up; it says to come back in {wait_s:.0f} s"
            return self.pause_reason
        self.refusals += 1
        if at - self.cut_at > max(EPISODE_S[0], min(wait_s, EPISODE_S[1])) and self._can_tell(at):
            self._slow_down(at)
        self.refused_at = at
        self.clean_starts = 0
        self.paused_until = max(self.paused_until, at + min(wait_s, RETRY_MAX_S))
        self.pause_reason = f"it refused the rate and said to wait {wait_s:.0f} s"
        if self.rate_per_s is None:
            return self.pause_reason
        return f"refused {self.refusals} times; paced to {60 * self.rate_per_s:.0f} per minute"

    def read(self, reading: Reading) -> None:
        """Budgets stated in a server's headers are what holds, whatever was configured or learned."""
        if reading.requests_per_minute and reading.requests_left is not None:
            self.requests = _stated(reading.requests_per_minute, reading.requests_left, reading.at)
        if reading.tokens_per_minute and reading.tokens_left is not None:
            self.tokens = _stated(reading.tokens_per_minute, reading.tokens_left, reading.at)

    def tick(self, at: float, passed_s: float) -> None:
        for attempt in self.starts:
            if self.starts[attempt].at >= at - WINDOW_S:
                break
        else:
            attempt = -1
        while self.starts and (oldest := next(iter(self.starts))) != attempt:
            del self.starts[oldest]
        if self.rate_per_s is None:
            return
        if self.refusals == 0:
            self.rate_per_s *= (1 + UNTESTED_GROWTH_PER_S) ** passed_s
        elif at - self.refused_at > CLEAN_S and at - self.held_at < CLEAN_S:  # untested, it does not grow
            quickens = 1 + (self.clean_starts / CLEAN_STARTS) ** 2
            unsure = 1 + UNSURE_GROWTH * (1 - self.known_s / KNOWN_S)
            growth = min(GROWTH_PER_S_MAX, GROWTH_PER_START * self.rate_per_s) * quickens * unsure
            self.rate_per_s *= (1 + min(growth, UNTESTED_GROWTH_PER_S)) ** passed_s

    def burst_seen(self, rate_per_s: float) -> float:
        """What the host took above its rate before it first refused."""
        taken, most = 0.0, 0.0
        for seconds, cost in enumerate(self.before_refusal, start=1):
            taken += cost
            most = max(most, taken - rate_per_s * seconds)
        return most

    def _level(self, at: float, rate_per_s: float) -> float:
        full = max(1.0, 1.5 * rate_per_s)
        return max(self.level, min(full, self.level + (at - self.level_at) * rate_per_s))

    def _can_tell(self, at: float) -> bool:
        """Is there a rate to learn? A host that refuses the very first calls says when to come back, no more."""
        if self.rate_per_s is not None:
            return True
        return sum(1 for start in self.starts.values() if start.accepted and start.at > at - WINDOW_S) >= ACCEPTED_MIN

    def _slow_down(self, at: float) -> None:
        if not self.before_refusal:
            self.before_refusal = [0.0] * int(WINDOW_S)
            for start in self.starts.values():
                if start.accepted and at - start.at < WINDOW_S:
                    self.before_refusal[int(at - start.at)] += start.cost
        known = self._sustained(at)
        again = at - self.cut_at < AGAIN_S
        self.cut_at = at
        self.taken = 0.0
        self.rate_per_s = max((BACK_OFF_AGAIN if again else BACK_OFF) * known, RATE_MIN_PER_S)
        self.level = min(self.level, 0.0)
        self.level_at = at

    def _sustained(self, at: float) -> float:
        """The rate the host can sustain. Its budget was empty at the last refusal and is empty at this one, so
        what it accepted in between is what flowed in."""
        passed_s = at - self.cut_at
        if self.rate_per_s is None or self.refusals <= 1:
            recent = [start for start in self.starts.values() if start.at > at - FIRST_WINDOW_S]
            oldest_at = recent[0].at if recent else at
            accepted = sum(start.cost for start in recent if start.accepted) / max(5.0, at - oldest_at)
            return accepted if self.rate_per_s is None else min(accepted, self.rate_per_s)
        share = passed_s / (passed_s + self.known_s)
        self.known_s = min(KNOWN_S, self.known_s + passed_s)
        known = self.known_per_s if self.known_per_s is not None else 0.0
        seen = max(self.taken / passed_s, 0.5 * self.rate_per_s)
        # A budget that was full for part of the time let some of its inflow go unused.
        seen += OVERFLOW * max(0.0, self.rate_per_s - seen) if passed_s > AGAIN_S else 0.0
        self.known_per_s = known + share * (seen - known)
        return self.known_per_s


def _stated(per_minute: float, left: float, at: float) -> Bucket:
    per_s = per_minute / 60
    return Bucket(per_s, max(1.0, 1.5 * per_s, left), left, at, told=True)
