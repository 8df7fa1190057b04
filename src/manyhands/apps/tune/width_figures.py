"""Sums up the attempts of one width: goodput, latency, and how certain they are."""

import math
from collections.abc import Sequence
from typing import NamedTuple, assert_never

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.quantiles import quantile


class Try(Struct, frozen=True):
    """One attempt at a probe task."""

    probe: str
    started_at: float
    ended_at: float
    ending: Ending

    @property
    def took_s(self) -> float:
        return max(1e-6, self.ended_at - self.started_at)


class MeasuredWidth(Struct, frozen=True):
    """One width. Latency and goodput are about the endings that count, the rest is about all attempts."""

    width: int
    attempts: int
    done: int
    failed: int
    overloads: int
    peak: int
    goodput_per_s: float
    spread: float  # standard error of ln(goodput)
    tokens_per_s: float | None
    p50_s: float
    p95_s: float
    rounds: int = 1
    why: str = ""  # the reason of the first overload or failure
    rate_limited: bool = False  # the overload was about the rate, not the load
    retry_after_s: float = 0.0

    @property
    def log_goodput(self) -> float:
        return math.log(self.goodput_per_s) if self.goodput_per_s > 0 else -math.inf

    @property
    def filled(self) -> bool:
        return self.peak >= self.width


def _is_of_host(kind: EndingKind) -> bool:
    """Does an ending of this kind say something about the host?"""
    match kind:
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.OVERLOADED | EndingKind.TIMED_OUT:
            return True
        case EndingKind.CANCELLED | EndingKind.PREEMPTED | EndingKind.LOST:
            return False  # our own doing
        case _:
            assert_never(kind)


def _refused(tries: Sequence[Try]) -> list[Try]:
    return [one for one in tries if one.ending.kind is EndingKind.OVERLOADED]


def measured(width: int, counted: int, rounds: Sequence[Sequence[Try]]) -> MeasuredWidth | None:
    """None: nothing ended by itself."""
    own_ends = [[one for one in attempts if _is_of_host(one.ending.kind)] for attempts in rounds]
    tries = [one for attempts in own_ends for one in attempts]
    if not tries:
        return None
    windows = [_window(width, counted, attempts) for attempts in own_ends if attempts]
    within = [one for window in windows for one in window.ended]
    lasted_s = sum(window.lasted_s for window in windows)
    good = [one for one in within if one.ending.kind is EndingKind.DONE]
    refused, troubled = _refused(tries), [one for one in tries if one.ending.kind is not EndingKind.DONE]
    done, overloads = len(tries) - len(troubled), len(refused)
    told = next((one.ending for one in (*refused, *troubled)), None)
    tokens = [one.ending.tokens_out or one.ending.tokens_in for one in good]
    latencies = sorted(one.took_s for one in good or within)
    return MeasuredWidth(
        width=width,
        attempts=len(tries),
        done=done,
        failed=len(tries) - done - overloads,
        overloads=overloads,
        peak=max(_peak(attempts) for attempts in rounds),
        goodput_per_s=len(good) / lasted_s,
        spread=_spread(within, len(good)),
        tokens_per_s=sum(tokens) / lasted_s if tokens and all(tokens) else None,
        p50_s=quantile(latencies, 0.5),
        p95_s=quantile(latencies, 0.95),
        rounds=len(rounds),
        why=told.detail if told else "",
        rate_limited=bool(told and (told.rate_limited or told.quota)),
        retry_after_s=(told.retry_after_s or 0.0) if told else 0.0,
    )


class _Window(NamedTuple):
    ended: list[Try]
    lasted_s: float


def _window(width: int, counted: int, tries: list[Try]) -> _Window:
    """The time from one ending to another, with the width full in between.

    The first `width` endings are left out, because a queue in the host may still be filling. So are the last ones,
    because ever fewer attempts run beside them. If attempts run in step, endings come in bursts. The window then goes
    from the last ending of one burst to the last of another.
    """
    ended = sorted(tries, key=lambda one: one.ended_at)
    begin_at = ended[width - 1].ended_at if len(ended) > width else min(one.started_at for one in ended)
    within = ended[width : width + counted] if len(ended) > width else ended
    return _Window(within, max(1e-6, within[-1].ended_at - begin_at))


def _spread(tries: Sequence[Try], done: int) -> float:
    """Each task is compared with itself: differences between tasks say nothing about the host."""
    by_probe: dict[str, list[float]] = {}
    for one in tries:
        by_probe.setdefault(one.probe, []).append(one.took_s)
    if len(tries) <= len(by_probe):
        by_probe = {"": [one.took_s for one in tries]}
    squares = total = 0.0
    for took in by_probe.values():
        mean = sum(took) / len(took)
        squares += sum((each - mean) ** 2 for each in took)
        total += sum(took)
    freedom = len(tries) - len(by_probe)
    latency = squares / freedom / len(tries) / (total / len(tries)) ** 2 if freedom > 0 else 1.0
    success = (len(tries) - done) / (done * len(tries)) if done else 1.0
    return math.sqrt(latency + success)


def _peak(attempts: Sequence[Try]) -> int:
    # An attempt that ends at the moment another one starts has made room for it.
    changes = sorted([(one.ended_at, -1) for one in attempts] + [(one.started_at, 1) for one in attempts])
    peak = now = 0
    for _, change in changes:
        now += change
        peak = max(peak, now)
    return peak
