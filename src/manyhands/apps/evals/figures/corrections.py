"""Holm's correction for many comparisons: the chance of any false alarm stays at the chosen level."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values in the given order. A comparison without a p-value does not count."""
    there = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(there):
        highest = max(highest, min(1.0, p * (len(there) - rank)))
        adjusted[place] = highest
    return adjusted
