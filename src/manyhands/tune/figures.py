"""What the attempts of one width amount to: goodput, latency, and how sure that is."""

import math
from collections.abc import Sequence

from msgspec import Struct

from manyhands.core.model import Ending, EndingKind

#: Endings that are our own doing: they say nothing about the host.
STOPPED = (EndingKind.CANCELLED, EndingKind.PREEMPTED, EndingKind.LOST)


class Try(Struct, frozen=True):
    """One attempt at a probe task."""

    probe: str
    started_at: float
    ended_at: float
    ending: Ending

    @property
    def took_s(self) -> float:
        return max(1e-6, self.ended_at - self.started_at)


class Measured(Struct, frozen=True):
    """One width. Goodput is by Little's law: how many were in flight over how long one of them takes."""

    width: int
    attempts: int
    done: int
    failed: int
    overloads: int
    in_flight: float  # mean
    peak: int
    goodput_per_s: float
    spread: float  # standard error of ln(goodput)
    tokens_per_s: float | None
    p50_s: float
    p95_s: float
    rounds: int = 1
    why: str = ""  # of the first overload or failure
    rate_limited: bool = False  # the overload was about the rate, not the load
    retry_after_s: float = 0.0

    @property
    def log_goodput(self) -> float:
        return math.log(self.goodput_per_s) if self.goodput_per_s > 0 else -math.inf

    @property
    def filled(self) -> bool:
        return self.peak >= self.width


def measured(width: int, counted: int, rounds: Sequence[Sequence[Try]]) -> Measured | None:
    """Of the first `counted` attempts of each round: those after them only kept the width full. None: none ended."""
    tries: list[Try] = []
    area = lasted_s = 0.0
    peak = 0
    for attempts in rounds:
        taken = [one for one in attempts[:counted] if one.ending.kind not in STOPPED]
        if not taken:
            continue
        tries += taken
        begin, end = taken[0].started_at, max(one.ended_at for one in taken)
        area += sum(max(0.0, min(end, one.ended_at) - max(begin, one.started_at)) for one in attempts)
        lasted_s += end - begin
        peak = max(peak, _peak(attempts))
    if not tries:
        return None
    kinds = [one.ending.kind for one in tries]
    done, overloads = kinds.count(EndingKind.DONE), kinds.count(EndingKind.OVERLOADED)
    mean_s = sum(one.took_s for one in tries) / len(tries)
    in_flight = area / lasted_s if lasted_s > 0 else float(len(tries))
    goodput_per_s = in_flight / mean_s * done / len(tries)
    good = [one for one in tries if one.ending.kind is EndingKind.DONE]
    tokens = [one.ending.tokens_out or one.ending.tokens_in for one in good]
    told = next((one.ending for one in tries if one.ending.kind is EndingKind.OVERLOADED), None)
    told = told or next((one.ending for one in tries if one.ending.kind is not EndingKind.DONE), None)
    latencies = sorted(one.took_s for one in good or tries)
    return Measured(
        width=width,
        attempts=len(tries),
        done=done,
        failed=len(tries) - done - overloads,
        overloads=overloads,
        in_flight=in_flight,
        peak=peak,
        goodput_per_s=goodput_per_s,
        spread=_spread(tries, mean_s, done),
        tokens_per_s=goodput_per_s * sum(tokens) / len(good) if good and all(tokens) else None,
        p50_s=_quantile(latencies, 0.5),
        p95_s=_quantile(latencies, 0.95),
        rounds=len(rounds),
        why=told.detail if told else "",
        rate_limited=bool(told and (told.rate_limited or told.quota)),
        retry_after_s=(told.retry_after_s or 0.0) if told else 0.0,
    )


def _spread(tries: Sequence[Try], mean_s: float, done: int) -> float:
    """That tasks differ from each other is no doubt about the host: each is compared with itself."""
    by_probe: dict[str, list[float]] = {}
    for one in tries:
        by_probe.setdefault(one.probe, []).append(one.took_s)
    if len(tries) <= len(by_probe):
        by_probe = {"": [one.took_s for one in tries]}
    squares = 0.0
    for took in by_probe.values():
        mean = sum(took) / len(took)
        squares += sum((each - mean) ** 2 for each in took)
    freedom = len(tries) - len(by_probe)
    latency = squares / freedom / len(tries) / mean_s**2 if freedom > 0 else 1.0
    success = (len(tries) - done) / (done * len(tries)) if done else 1.0
    return math.sqrt(latency + success)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def _peak(attempts: Sequence[Try]) -> int:
    # What ends at the instant another starts has made room for it.
    changes = sorted([(one.ended_at, -1) for one in attempts] + [(one.started_at, 1) for one in attempts])
    peak = now = 0
    for _, change in changes:
        now += change
        peak = max(peak, now)
    return peak
