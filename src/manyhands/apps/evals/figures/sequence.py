"""Confidence sequences: intervals that stay valid if you look after every case, so that an eval can stop early.

The hedged capital process of Waudby-Smith & Ramdas (2024): a gambler bets against every possible mean, and cannot get
rich against the true one. It holds for any bounded distribution, any number of looks and any sample size.
"""

from collections.abc import Sequence
from math import log
from typing import Any

from manyhands.apps.evals.figures.libraries import numpy
from manyhands.errors import UsageError

#: The number of candidate means. The interval is widened by one step on each side.
GRID = 1_000
#: A bet may lose at most this share of the capital. After a total loss nothing could be won back.
TRUNCATION = 0.5


def confidence_sequence(
    differences: Sequence[float], bounds: tuple[float, float], level: float
) -> tuple[list[float], list[float]]:
    """(low, high) after each difference. They must be in the *planned* order of cases, not in the order of arrival.

    `bounds` are the lowest and highest score.
    """
    np = numpy()
    width = bounds[1] - bounds[0]
    if width <= 0:
        raise UsageError(f"the lowest score must be below the highest, got {bounds[0]} and {bounds[1]}")
    if outside := next((value for value in differences if abs(value) > width * (1 + 1e-9)), None):
        raise UsageError(
            f"a difference of {outside:g} does not fit scores from {bounds[0]:g} to {bounds[1]:g}",
            "an eval can stop early only with a scorer whose lowest and highest score are known",
        )
    alpha = 1 - level
    unit = (np.array(differences, dtype=float) / width + 1) / 2
    candidates = np.linspace(0, 1, GRID + 1)
    rising, falling = np.zeros(GRID + 1), np.zeros(GRID + 1)
    possible = np.ones(GRID + 1, dtype=bool)
    low: list[float] = []
    high: list[float] = []
    for value, bet in zip(unit, _bets(unit, alpha), strict=True):
        up = np.minimum(bet, TRUNCATION / np.maximum(candidates, 1e-12))
        down = np.minimum(bet, TRUNCATION / np.maximum(1 - candidates, 1e-12))
        rising += np.log1p(up * (value - candidates))
        falling += np.log1p(-down * (value - candidates))
        possible &= np.maximum(rising, falling) + log(0.5) < log(1 / alpha)
        low.append(_scaled(np, candidates, possible, 0, width))
        high.append(_scaled(np, candidates, possible, -1, width))
    return low, high


def _bets(unit: Any, alpha: float) -> Any:
    """Predictable plug-in bets: each depends only on the differences before it."""
    np = numpy()
    n = len(unit)
    count = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(unit)) / (count + 1)
    variance = (0.25 + np.cumsum((unit - mean) ** 2)) / (count + 1)
    before = np.concatenate(([0.25], variance[:-1]))
    return np.sqrt(2 * log(2 / alpha) / (before * count * np.log(count + 1)))


def _scaled(np: Any, candidates: Any, possible: Any, end: int, width: float) -> float:
    inside = np.flatnonzero(possible)
    step = 1 / GRID
    if len(inside) == 0:  # every candidate is refuted: an assumption is violated, or the data is extremely unlikely
        return 0.0
    edge = candidates[inside[end]] + (step if end else -step)
    return float((min(1.0, max(0.0, edge)) * 2 - 1) * width)
