"""The mean of paired differences, its standard error (clustered if there are clusters), and its t interval."""

from collections.abc import Sequence
from math import exp, fsum, lgamma, log, sqrt

from manyhands.apps.evals.figures.figure_values import Estimate, Interval
from manyhands.apps.evals.figures.libraries import scipy_special

#: Rounding makes equal differences unequal in their last digits. A spread below this share of their size is zero.
ROUNDING = 1e-12


def mean_of(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def sd_of(values: Sequence[float]) -> float | None:
    """Sample standard deviation. None for fewer than two values, exactly 0 if only rounding makes them differ."""
    if len(values) < 2:
        return None
    mean = mean_of(values)
    sd = sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return 0.0 if sd <= ROUNDING * max(1.0, max(abs(value) for value in values)) else sd


def residual_sums(values: Sequence[float], clusters: Sequence[str]) -> tuple[list[float], list[int]]:
    """For each cluster, in the order of their names: the sum of deviations from the mean, and the size."""
    mean = mean_of(values)
    inside: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        inside.setdefault(cluster, []).append(value - mean)
    return [fsum(inside[name]) for name in sorted(inside)], [len(inside[name]) for name in sorted(inside)]


def se_cr1(values: Sequence[float], clusters: Sequence[str]) -> float:
    """The usual cluster-robust standard error of a mean, as in statsmodels and Stata."""
    sums, sizes = residual_sums(values, clusters)
    many = len(sizes)
    return sqrt(many / (many - 1) * fsum(total**2 for total in sums)) / len(values)


def se_cr2(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, float]:
    """Bias-reduced cluster-robust standard error and Satterthwaite's degrees of freedom (Bell & McCaffrey 2002).

    With clusters of one it equals the plain standard error with n - 1 degrees of freedom. With clusters of equal size
    it equals CR1. CR1 is too small for few clusters of different sizes, which is what evals have.
    """
    sums, sizes = residual_sums(values, clusters)
    n = len(values)
    variance = fsum(total**2 / (1 - size / n) for total, size in zip(sums, sizes, strict=True)) / n**2
    scale = [1 / (n * sqrt(1 - size / n)) for size in sizes]
    squares = fsum((size / n**2) ** 2 for size in sizes)
    # The sum of (scale_g · scale_h · size_g · size_h / n)² over all g ≠ h, without the double loop.
    parts = [(factor * size) ** 2 for factor, size in zip(scale, sizes, strict=True)]
    squares += (fsum(parts) ** 2 - fsum(part**2 for part in parts)) / n**2
    return sqrt(variance), 1 / n**2 / squares


def estimated(values: Sequence[float], clusters: Sequence[str] | None, level: float) -> Estimate:
    """The paired t of these differences. The caller sorts them: the order of arrival must not matter."""
    mean, sd, units = mean_of(values), sd_of(values), len(values)
    many = None if clusters is None else len(set(clusters))
    if sd is None:
        return Estimate(mean, sd, units, many, note="a single difference has no spread, so there is no interval")
    if many == 1:
        return Estimate(mean, sd, units, many, note="all cases are in one cluster, so there is no interval")
    if sd == 0:
        note = "all differences are equal, so there is no t and no interval"
        return Estimate(0.0 if abs(mean) <= ROUNDING else mean, sd, units, many, note=note)
    se, df = (sd / sqrt(units), units - 1.0) if clusters is None else se_cr2(values, clusters)
    if se <= ROUNDING * sd:
        return Estimate(mean, sd, units, many, note="all clusters have the same mean, so there is no t and no interval")
    special = scipy_special()
    half = se * float(special.stdtrit(df, (1 + level) / 2))
    t = mean / se
    interval = Interval(mean - half, mean + half, level)
    return Estimate(mean, sd, units, many, se, df, t, float(2 * special.stdtr(df, -abs(t))), interval)


def hedges_g(values: Sequence[float]) -> float | None:
    """The mean divided by the standard deviation of the differences, corrected for small samples."""
    sd = sd_of(values)
    if not sd:
        return None
    df = len(values) - 1
    if df < 2:
        return None
    correction = exp(lgamma(df / 2) - lgamma((df - 1) / 2) - log(df / 2) / 2)
    return correction * mean_of(values) / sd
