"""Curves through what was seen of batches: non-negative least squares over k0 + k1·x + k2·y, in plain arithmetic.

Three coefficients are few enough to try every subset of them, which also shows how many explanations fit equally well.
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
    error: float  # root of the mean square of relative residuals
    above: float  # the most that was seen above the curve, as a ratio; at least 1
    below: float  # the least that was seen, as a ratio; at most 1


#: Dearest first: among equals the explanation with the fewest terms is tried last and must earn its place.
SUBSETS = [subset for size in (3, 2, 1) for subset in combinations(range(3), size)]


def fits_of(seen: Sequence[SeenBatch], grain: float = 0.0) -> list[Fit]:
    """Every subset of terms that gives a curve with no negative coefficient; the best first.

    `grain`: values come in steps of this size, and differences below it say nothing.
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
    """Each row is relative to what was seen: the curve over it would be 1 everywhere if it fitted exactly."""
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
    """Gauss's elimination on rows scaled to a diagonal of ones; None where the matrix is as good as singular."""
    size = len(right)
    scale = [matrix[i][i] ** 0.5 for i in range(size)]
    if min(scale) <= 0:
        return None
    rows = [[matrix[i][j] / (scale[i] * scale[j]) for j in range(size)] + [right[i] / scale[i]] for i in range(size)]
    for pivot in range(size):
        if rows[pivot][pivot] < 1e-9:  # positive definite, so no exchange of rows is needed
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
