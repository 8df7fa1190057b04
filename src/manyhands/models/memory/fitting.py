"""Curves through what was seen of batches: non-negative least squares over k0 + k1·x + k2·y, in plain arithmetic.

Three coefficients are few enough to try every subset of them, which also shows how many explanations fit equally well.
"""

from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from manyhands.models.model import Growth


class Seen(Struct, frozen=True, gc=False, array_like=True):
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


def fits_of(seen: Sequence[Seen], grain: float = 0.0) -> list[Fit]:
    """Every subset of terms that gives a curve with no negative coefficient; the best first.

    `grain`: values come in steps of this size, and differences below it say nothing.
    """
    rows = [tuple(feature / one.value for feature in one.features) for one in seen]
    slack = [grain / one.value for one in seen]
    products = [[sum(row[i] * row[j] for row in rows) for j in range(3)] for i in range(3)]
    sums = [sum(row[i] for row in rows) for i in range(3)]
    found = []
    for subset in SUBSETS:
        solution = solve([[products[i][j] for j in subset] for i in subset], [sums[i] for i in subset])
        if solution is None or min(solution) < 0:
            continue
        terms = [0.0, 0.0, 0.0]
        for term, value in zip(subset, solution, strict=True):
            terms[term] = value
        # Each row is relative to what was seen: the curve over it would be 1 everywhere if it fitted exactly.
        ratios = [terms[0] * row[0] + terms[1] * row[1] + terms[2] * row[2] for row in rows]
        pairs = list(zip(ratios, slack, strict=True))
        error = (sum(max(0.0, abs(ratio - 1) - each) ** 2 for ratio, each in pairs) / len(pairs)) ** 0.5
        above = max(1.0, *((1 - each) / ratio for ratio, each in pairs))
        below = min(1.0, *((1 + each) / ratio for ratio, each in pairs))
        found.append(Fit(Growth(*terms), error, above, below))
    return sorted(found, key=lambda fit: fit.error)


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
