"""Quantiles of a few measured values, computed the same way everywhere."""

from collections.abc import Sequence


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of them lies: linear between neighbours, like the default of numpy."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
