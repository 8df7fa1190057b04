"""`--concurrency auto`: how many sessions may run at once without disturbing each other.

The number doubles from 1 as long as three things hold: sessions are hardly slower, they hardly fail more often for
reasons that are not their own, and nothing overloads. Trials of the search are not scored. The number that is found
applies to all arms and does not change during the eval.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, assert_never

from manyhands.apps.evals.spec.eval_types import Calibration, Concurrency
from manyhands.core.state import Record
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.quantiles import quantile

#: What a step may exceed one session at a time by: p95 of durations, share of sessions lost to infrastructure.
SLOW_DOWN_MAX = 1.10
MORE_FAILURES_MAX = 0.005
#: Each step tries the same (arm, case) combinations, at most this many. It repeats them until everything that may
#: run at once has run twice.
COMBINATIONS_MAX = 8
ROUNDS_MIN = 2


class SeenDurations(NamedTuple):
    """One session of a step."""

    took_s: float
    failed: bool  # timed out, or given up because of infrastructure
    overloads: int


def seen(record: Record) -> SeenDurations:
    history = record.history or []
    endings = [tried.ending for tried in history if tried.ending is not None]
    took_s = (history[-1].ended_at or history[-1].started_at) - history[-1].started_at if history else 0.0
    last = endings[-1].kind if endings else EndingKind.CANCELLED
    return SeenDurations(took_s, _is_given_up(last), _overloads(endings))


def _is_given_up(last: EndingKind) -> bool:
    match last:
        case EndingKind.TIMED_OUT | EndingKind.OVERLOADED | EndingKind.LOST:
            return True
        case EndingKind.DONE | EndingKind.FAILED:
            return False  # the arm had its say
        case EndingKind.CANCELLED | EndingKind.PREEMPTED:
            return False
        case _:
            assert_never(last)


def _overloads(endings: Sequence[Ending]) -> int:
    return sum(ending.kind is EndingKind.OVERLOADED for ending in endings)


def rounds_at(n: int, combinations: int) -> int:
    """How often a step with n at once runs each combination."""
    return max(ROUNDS_MIN, math.ceil(2 * n / combinations))


def judge(n: int, sessions: Sequence[SeenDurations], first: Calibration | None) -> Calibration:
    """Compares the step with n at once to the step with one at a time (`first`; None if this is that step)."""
    p95_s = quantile(sorted(one.took_s for one in sessions), 0.95)
    failures = sum(one.failed for one in sessions) / len(sessions)
    overloads = sum(one.overloads for one in sessions)
    slow_down = p95_s / first.p95_s if first is not None and first.p95_s > 0 else 1.0
    why = ""
    if first is not None:
        if overloads:
            why = f"{overloads} overloads"
        elif slow_down > SLOW_DOWN_MAX:
            why = f"p95 is {slow_down:.2f} × the p95 of one at a time"
        elif failures > first.failures + MORE_FAILURES_MAX:
            why = f"{failures:.1%} lost to time-outs and infrastructure, {first.failures:.1%} one at a time"
    return Calibration(n, len(sessions), p95_s, slow_down, failures, overloads, not why, why)


def next_n(steps: Sequence[Calibration], most: int) -> int | None:
    """How many at once to try next; None when the search has ended."""
    if not steps:
        return 1
    last = steps[-1]
    if not last.accepted or last.n >= most:
        return None
    return min(2 * last.n, most)


def found(steps: Sequence[Calibration]) -> Concurrency:
    """The largest number that was accepted."""
    return Concurrency(max(step.n for step in steps if step.accepted), "auto", tuple(steps))
