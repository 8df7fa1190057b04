"""Many comparisons at once: Holm's correction keeps the chance of any false alarm at the level asked for."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values in the order given. A comparison without one is no part of the family."""
    there = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(there):
        highest = max(highest, min(1.0, p * (len(there) - rank)))
        adjusted[place] = highest
    return adjusted
