"""Fits curves to measured batches by non-negative least squares over k0 + k1·x + k2·y, in plain arithmetic.

There are only three coefficients, so every subset of them is tried. This also shows how many curves fit equally well.
"""

from collections.abc import Sequence
from itertools import combinations
from operator import mul

from msgspec import Struct

from manyhands.worker.values.planner_values import Growth


class SeenBatch(Struct, frozen=True, gc=False, array_like=True):
    """What one batch took."""

    count: int
    length: int
    value: float

    @property
    def features(self) -> tuple[float, float, float]:
        padded = float(self.count * self.length)
        return 1.0, padded, padded * self.length


class Fit(Struct, frozen=True, gc=False):
    growth: Growth
    error: float  # root mean square of the relative residuals
    above: float  # the highest ratio of a measured value to the curve; at least 1
    below: float  # the lowest ratio of a measured value to the curve; at most 1


#: Most terms first. Sorting by error is stable, so a curve with fewer terms comes first only if it fits better.
SUBSETS = [subset for size in (3, 2, 1) for subset in combinations(range(3), size)]


def fits_of(seen: Sequence[SeenBatch], grain: float = 0.0) -> list[Fit]:
    """The curves of all subsets of terms that need no negative coefficient; the best comes first.

    Values come in steps of `grain`, so smaller differences are ignored.
    """
    rows = [(1.0 / one.value, one.count * one.length / one.value, one.features[2] / one.value) for one in seen]
    slack = [grain / one.value for one in seen]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    products = [[sum(map(mul, left, right)) for right in columns] for left in columns]
    sums = [sum(column) for column in columns]
    found = []
    for subset in SUBSETS:
        solution = solve([[products[i][j] for j in subset] for i in subset], [sums[i] for i in subset])
        if solution is None or min(solution) < 0:
            continue
        terms = [0.0, 0.0, 0.0]
        for term, value in zip(subset, solution, strict=True):
            terms[term] = value
        found.append(judged(Growth(*terms), rows, slack))
    return sorted(found, key=lambda fit: fit.error)


def judged(growth: Growth, rows: Sequence[tuple[float, float, float]], slack: Sequence[float]) -> Fit:
    """Measure how well a curve fits. Rows are divided by the measured value, so an exact fit gives 1 for each."""
    k0, k1, k2 = growth.k0, growth.k1, growth.k2
    squares, above, below = 0.0, 1.0, 1.0
    for (one, padded, padded_length), each in zip(rows, slack, strict=True):
        ratio = k0 * one + k1 * padded + k2 * padded_length
        off = abs(ratio - 1) - each
        if off > 0:
            squares += off * off
            above, below = max(above, (1 - each) / ratio), min(below, (1 + each) / ratio)
    return Fit(growth, (squares / len(rows)) ** 0.5, above, below)


def solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Gaussian elimination on rows scaled to a diagonal of ones; None if the matrix is nearly singular."""
    size = len(right)
    scale = [matrix[i][i] ** 0.5 for i in range(size)]
    if min(scale) <= 0:
        return None
    rows = [[matrix[i][j] / (scale[i] * scale[j]) for j in range(size)] + [right[i] / scale[i]] for i in range(size)]
    for pivot in range(size):
        if rows[pivot][pivot] < 1e-9:  # the matrix is positive definite, so rows need not be exchanged
            return None
        for row in range(pivot + 1, size):
            factor = rows[row][pivot] / rows[pivot][pivot]
            for column in range(pivot, size + 1):
                rows[row][column] -= factor * rows[pivot][column]
    solution = [0.0] * size
    for row in reversed(range(size)):
        known = sum(rows[row][column] * solution[column] for column in range(row + 1, size))
        solution[row] = (rows[row][size] - known) / rows[row][row]
    return [value / scale[i] for i, value in enumerate(solution)]
