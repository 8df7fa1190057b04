"""When the next start may happen: budgets per minute, stated or learned, Retry-After and used-up quotas.

A refused rate says nothing about how much a host can bear at once, so none of this touches the width.
"""

import math

from msgspec import Struct

from manyhands.core.values.host import Rate
from manyhands.core.values.host_memory import HostMemory
from manyhands.core.values.widths import Reading, Sample

WINDOW_S = 60.0  # how long starts are remembered
FIRST_WINDOW_S = 20.0  # over which the accepted rate is taken at the first refusal
FIRST_DEPTH_S = 3.0  # what was accepted before the first refusal is taken to have been saved up for so long
DOUBLES_S = 2.0  # after one refusal the rate doubles this often while starts wait for it, until the second
BACK_OFF, BACK_OFF_AGAIN = 0.97, 0.9  # of the known rate; the second when one episode follows another
AGAIN_S, AT_ONCE_S = 15.0, 3.0  # follows within so long; while the rate is a guess
CUSHION = 2.0  # starts that are then left to the host's budget: calls differ in what they take of it
MEASURED_MIN = 0.3  # of an interval in which the host's budget may have been full
FALLS = 0.4  # what a short interval counts at least when less was accepted than is known, right after a refusal
KNOWN_S = 60.0  # a rate measured over this long weighs as much as all that was believed before
SURE_S = 30.0  # a rate measured over less is a guess
GROWTH_PER_START = 0.0003  # slow enough that about one start in a hundred is refused
GROWTH_PER_S_MAX = 0.003
UNSURE_GROWTH = 0.35  # a second, divided by the seconds that the known rate rests on
OVERFLOW = 0.25
CLEAN_STARTS = 400  # after so many without a refusal the host has probably become faster: growth quickens
UNTESTED_GROWTH_PER_S = 0.02  # a remembered rate that was never refused in this run
HELD_S = 2.0  # a start used up what the rate allows within so long: the rate is what holds back
RATE_MIN_PER_S = 0.02
RETRY_MAX_S = 60.0  # longer is a quota, and is waited out whole
TOKENS_MARGIN = 3.0  # a start waits for this many times its usual tokens: calls differ in length
ACCEPTED_MIN = 5  # fewer accepted starts tell no rate
SEEN_MIN = 5
#: Seconds of the learned rate that are saved up at most, and of a stated one. The second is less than what servers
#: save: requests do not arrive evenly, and what is left over keeps them from being refused.
SAVED_S, SAVED_STATED_S = 1.5, 0.8
SAVED_MUCH = 2.0  # starts
BURST_S = 0.2  # what leaves within so long leaves at once
BURST_MUCH = 1.0  # starts
OF_LATE_S = 3.0
#: A pause longer than the first lets in one call when it ends, and what flows in during the second.
LONG_PAUSE_S, PAUSE_SAVES_S = 2.0, 1.0
GUESS_KEPT = 0.25  # of the first guess, though nothing was accepted after it
SOON_FULL_S = 1.0  # a host that saves up less than this is soon full
SAVED_LESS, SAVED_MORE = 0.5, 1.3  # after a refusal of what was saved up, and after any other
BURST_TRUST = 0.9
#: A stated rate is doubted when the host has accepted less than this share of it over this long.
DOUBT_BELOW, DOUBT_S = 0.9, 5.0
REMEMBERED_S = 30.0  # of this run weigh as much as what is remembered


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
        burst = max(1.0, SAVED_STATED_S * amount / 60)
        return cls(amount / 60, burst, burst, at)


class Pacer(Struct):
    requests: Bucket | None = None
    tokens: Bucket | None = None
    learns: bool = True  # a rate; otherwise a refusal only pauses
    rate_per_s: float | None = None  # learned, in usual attempts; None: never refused
    burst: float = 0.0  # learned: starts the host takes at once after a rest
    remembered_burst: float = 0.0
    burst_trust: float = BURST_TRUST
    saved_s: float = SAVED_S
    level: float = 1.0
    level_at: float = 0.0
    held_at: float = -1e9  # when a start last used up what the learned rate allows
    paused_from: float = -1e9
    paused_until: float = 0.0
    pause_reason: str = ""
    refusals: int = 0
    refused_at: float = -1e9
    empty_at: float | None = None  # when the last refused start left: the host's budget was empty then
    taken: float = 0.0  # cost accepted since
    clean_starts: int = 0  # since the last refusal
    known_per_s: float | None = None  # what the host was seen to sustain between refusals
    known_s: float = 0.0  # over how long, of late
    starts: dict[int, Start] = {}  # by attempt, the last minute's, oldest first
    before_refusal: list[float] = []  # accepted per second in the minute before the first refusal, latest first
    usual: dict[str, KindTokens] = {}

    @classmethod
    def begin(cls, rate: Rate | None, memory: HostMemory | None, learns: bool = True) -> "Pacer":
        pacer = cls(learns=learns)
        if rate is not None and rate.requests_per_minute:
            pacer.requests = Bucket.per_minute(rate.requests_per_minute, 0.0)
        if rate is not None and rate.tokens_per_minute:
            pacer.tokens = Bucket.per_minute(rate.tokens_per_minute, 0.0)
        if learns and memory is not None and memory.rate_per_s and pacer.requests is None:
            pacer.rate_per_s = memory.rate_per_s
            if memory.rate_s:
                pacer.known_per_s, pacer.known_s = memory.rate_per_s, min(REMEMBERED_S, memory.rate_s)
            pacer.burst = pacer.remembered_burst = memory.burst
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
        sent_at = at
        if start is not None:
            start.accepted = False
            sent_at = start.at
            if self.empty_at is None or sent_at > self.empty_at:
                self.taken -= start.cost
        if sample.quota:
            wait_s = sample.retry_after_s or 0.0
            self.paused_until = max(self.paused_until, at + wait_s)
            self.pause_reason = f"quota used up; it says to come back in {wait_s:.0f} s"
            return self.pause_reason
        self.refusals += 1
        if self.learns:
            self._learn_from_refusal(at, sent_at)
        self.refused_at = at
        self.clean_starts = 0
        self.paused_until = max(self.paused_until, at + min(wait_s, RETRY_MAX_S))
        self.pause_reason = f"it refused the rate and said to wait {wait_s:.0f} s"
        if self.rate_per_s is None:
            return self.pause_reason
        if wait_s > LONG_PAUSE_S:  # it ends when one call fits, so nothing is saved up until then
            self.level_at = max(self.level_at, self.paused_until - PAUSE_SAVES_S)
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
        if self.rate_per_s is None or at < self.paused_until:
            return
        if at - self.held_at < max(HELD_S, 2 / self.rate_per_s):  # untested, it does not grow
            self.level, self.level_at = self._level(at, self.rate_per_s), at
            self.rate_per_s *= 2 ** (passed_s * self._doublings_per_s(self.rate_per_s))

    def rate_to_keep(self) -> float | None:
        """For the next run: what was measured, or more if more was borne."""
        if self.rate_per_s is None:
            return None
        if self.known_per_s is None or self.refusals == 0:
            return self.rate_per_s
        return self.known_per_s

    def burst_to_keep(self) -> float:
        return self.burst * self.burst_trust / BURST_TRUST

    def _burst_seen(self, rate_per_s: float) -> float:
        """What the host took above its rate before it first refused."""
        taken, most = 0.0, 0.0
        for seconds, cost in enumerate(self.before_refusal, start=1):
            taken += cost
            most = max(most, taken - rate_per_s * seconds)
        return most

    def _doublings_per_s(self, rate_per_s: float) -> float:
        if self.known_per_s is None:
            return 1 / DOUBLES_S
        quickens = 1 + (self.clean_starts / CLEAN_STARTS) ** 2
        growth = min(GROWTH_PER_S_MAX, GROWTH_PER_START * rate_per_s) * quickens
        growth = UNTESTED_GROWTH_PER_S if self.refusals == 0 else min(growth, UNTESTED_GROWTH_PER_S)
        unsure = UNSURE_GROWTH * (1 / (1 + self.known_s) - 1 / (1 + KNOWN_S))
        return math.log2(1 + growth + unsure)

    def _level(self, at: float, rate_per_s: float) -> float:
        full = max(1.0, self.saved_s * rate_per_s, self.burst_trust * self.burst)
        return max(self.level, min(full, self.level + (at - self.level_at) * rate_per_s))

    def _learn_from_refusal(self, at: float, sent_at: float) -> None:
        if sent_at <= self.paused_from:  # it left before the host's first refusal came back: the same episode
            self._emptied(max(sent_at, self.empty_at or sent_at))
            return
        if self.rate_per_s is not None or self._can_tell(at):
            self._slow_down(at, sent_at)
        self._emptied(sent_at)
        self.paused_from = at

    def _emptied(self, sent_at: float) -> None:
        """The host's budget was empty when this start left. What left later has been accepted, or will tell."""
        if self.empty_at is not None and sent_at <= self.empty_at:
            return
        self.empty_at = sent_at
        self.taken = self._left_since(sent_at)

    def _left_since(self, sent_at: float) -> float:
        # From 0.0: a snapshot tells a whole number from a float, and replays must agree with it to the byte.
        return sum((start.cost for start in self.starts.values() if start.accepted and start.at > sent_at), 0.0)

    def _can_tell(self, at: float) -> bool:
        """Is there a rate to learn? A host that refuses the very first calls says when to come back, no more."""
        return sum(1 for start in self.starts.values() if start.accepted and start.at > at - WINDOW_S) >= ACCEPTED_MIN

    def _slow_down(self, at: float, sent_at: float) -> None:
        if not self.before_refusal:
            self.before_refusal = [0.0] * int(WINDOW_S)
            for start in self.starts.values():
                if start.accepted and at - start.at < WINDOW_S:
                    self.before_refusal[int(at - start.at)] += start.cost
        is_again = at - self.refused_at < (AGAIN_S if self.known_s > SURE_S else AT_ONCE_S)
        in_a_burst = self._left_in_a_burst(sent_at)
        self._judge_savings([start for start in self.starts.values() if start.at > sent_at], in_a_burst)
        if self.empty_at is None:
            rate_per_s = self._first_guess(sent_at)
        elif in_a_burst and self.known_per_s is not None:  # it saves up less than was sent at once: not about the rate
            is_again = False
            rate_per_s = BACK_OFF * self.known_per_s
        else:
            passed_s = sent_at - self.empty_at
            passed_s = max(MEASURED_MIN * passed_s, passed_s - self._lost_s(sent_at))
            self._measure(self.taken - self._left_since(sent_at), passed_s, self._sustained(sent_at))
            assert self.known_per_s is not None
            rate_per_s = (BACK_OFF_AGAIN if is_again else BACK_OFF) * self.known_per_s
        self.burst = max(self.remembered_burst, self._burst_seen(rate_per_s))
        self.rate_per_s = None if self._is_stated(rate_per_s) else max(rate_per_s, RATE_MIN_PER_S)
        self.level = min(self.level, 0.0) - CUSHION * is_again
        self.level_at = at

    def _lost_s(self, sent_at: float) -> float:
        """For how long of the last pause the host's budget was full, so that nothing more flowed in."""
        if self.known_per_s is None:
            return 0.0
        saves_s = max(self.saved_s, self.burst_trust * self.burst / self.known_per_s)
        return max(0.0, min(self.paused_until, sent_at) - self.paused_from - saves_s)

    def _is_stated(self, rate_per_s: float) -> bool:
        """Does the rate that a person or the host itself stated hold, though something was refused?"""
        if self.requests is None:
            return False
        return self.known_s < DOUBT_S or rate_per_s >= DOUBT_BELOW * self.requests.per_s

    def _judge_savings(self, later: list[Start], in_a_burst: bool) -> None:
        """Refused with much saved up: the host saves less for us than we thought. `later`: left after that."""
        requests = self.requests
        if requests is not None and not requests.told and requests.level + len(later) > SAVED_MUCH:
            requests.burst = max(1.0, SAVED_LESS * requests.burst)
        if self.rate_per_s is None or self.known_per_s is None:
            return
        if in_a_burst or self.level + sum(start.cost for start in later) > SAVED_MUCH:
            self.saved_s *= SAVED_LESS
            self.burst_trust *= SAVED_LESS
        else:
            self.saved_s = min(SAVED_S, self.saved_s * SAVED_MORE)
            self.burst_trust = min(BURST_TRUST, self.burst_trust * SAVED_MORE)

    def _first_guess(self, sent_at: float) -> float:
        """What was accepted may have been saved up before we came."""
        recent = [start for start in self.starts.values() if sent_at - FIRST_WINDOW_S < start.at <= sent_at]
        took_s = sent_at - recent[0].at if recent else 0.0
        accepted = sum(start.cost for start in recent if start.accepted)
        guess = accepted / (took_s + FIRST_DEPTH_S)
        if self.rate_per_s is None:
            return guess
        if self.rate_per_s * max(took_s, 1.0) > accepted:  # not even with a full budget was that much accepted
            self.known_per_s, self.known_s = None, 0.0
            return min(guess, self.rate_per_s)
        return self.known_per_s or self.rate_per_s

    def _left_in_a_burst(self, sent_at: float) -> bool:
        """Were more sent at once just before than the rate alone allows, to a host that saves up little?"""
        if not self._is_soon_full(self.known_per_s or 0.0):
            return False
        sent = sum(start.cost for start in self.starts.values() if sent_at - BURST_S < start.at <= sent_at)
        return self.rate_per_s is not None and sent > BURST_MUCH + BURST_S * self.rate_per_s

    def _sustained(self, sent_at: float) -> float:
        """At least so much flowed in of late: what was accepted, without what the host may have saved up for us.

        A budget that is soon full loses what flows in while we send less: the mean between two refusals is too low.
        """
        of_late = (start for start in self.starts.values() if sent_at - OF_LATE_S < start.at <= sent_at)
        sustained = (sum(start.cost for start in of_late if start.accepted) - self.burst) / OF_LATE_S
        return sustained if self._is_soon_full(sustained) else 0.0

    def _is_soon_full(self, rate_per_s: float) -> bool:
        return sum(self.before_refusal) < SOON_FULL_S * rate_per_s

    def _measure(self, taken: float, passed_s: float, sustained: float) -> None:
        """The rate the host can sustain. Its budget was empty at the last refusal and is empty at this one, so
        what it accepted in between is what flowed in."""
        seen = taken / max(0.1, passed_s)
        if self.rate_per_s is not None and passed_s > AGAIN_S:
            # A budget that was full for part of the time let some of its inflow go unused.
            seen += OVERFLOW * max(0.0, self.rate_per_s - seen)
        known = self.known_per_s or 0.0
        if not self.known_s and self.rate_per_s is not None:
            sustained = max(sustained, GUESS_KEPT * self.rate_per_s)
        seen = max(seen, 0.5 * known, sustained, RATE_MIN_PER_S)
        share = passed_s / (passed_s + self.known_s) if self.known_s else 1.0
        if seen < known and passed_s < AT_ONCE_S and self.known_s < SURE_S:
            share = max(share, FALLS)  # the budget was not quite empty at the refusals before
        self.known_s = min(KNOWN_S, self.known_s + passed_s)
        self.known_per_s = known + share * (seen - known)


def _stated(per_minute: float, left: float, at: float) -> Bucket:
    per_s = per_minute / 60
    return Bucket(per_s, max(1.0, 1.5 * per_s, left), left, at, told=True)
