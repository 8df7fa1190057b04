"""Groups neighbours in a given order, up to a size."""

from typing import TypeVar

T = TypeVar("T")


def runs_within(items: list[T], sizes: list[int], cap: int) -> list[list[T]]:
    """Join items while they fit. An item that is too large by itself stays alone."""
    runs: list[list[T]] = []
    room = -1
    for item, size in zip(items, sizes, strict=True):
        if not runs or size > room:
            runs.append([])
            room = cap
        runs[-1].append(item)
        room -= size
    return runs


def even_runs(items: list[T], sizes: list[int], cap: int) -> list[list[T]]:
    """As few runs as the cap allows, and among those the most even ones."""
    fewest = len(runs_within(items, sizes, cap))
    low, high = 1, cap
    while low < high:
        middle = (low + high) // 2
        if len(runs_within(items, sizes, middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
    return runs_within(items, sizes, low)
