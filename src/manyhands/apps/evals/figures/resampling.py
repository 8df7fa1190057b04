"""Intervals and tests that assume no distribution: cluster bootstrap, sign test, permutation test."""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Any

from manyhands.apps.evals.figures.figure_values import Interval, PValue
from manyhands.apps.evals.figures.libraries import numpy, scipy_stats

RESAMPLES = 9_999
#: With fewer clusters the interval would be little more than the extremes of the data.
BOOTSTRAP_UNITS_MIN = 5
#: Up to 2 to this power, all assignments of labels are tried.
EXACT_UNITS_MAX = 13


def sums_of_clusters(values: Sequence[float], clusters: Sequence[str] | None) -> tuple[list[float], list[int]]:
    """Sum and size of each cluster. Without clusters every value is one of its own."""
    if clusters is None:
        return list(values), [1] * len(values)
    inside: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        inside.setdefault(cluster, []).append(value)
    return [fsum(inside[name]) for name in sorted(inside)], [len(inside[name]) for name in sorted(inside)]


def cluster_bootstrap(
    values: Sequence[float], clusters: Sequence[str] | None, level: float, seed: int, resamples: int = RESAMPLES
) -> Interval | None:
    """Percentile interval over resampled clusters, widened like a t interval of as many clusters.

    The plain percentile interval is too narrow by √((n-1)/n) and by t against z (Hesterberg 2015: "expanded").
    """
    np, stats = numpy(), scipy_stats()
    sums, sizes = sums_of_clusters(values, clusters)
    many = len(sums)
    if many < BOOTSTRAP_UNITS_MIN:
        return None
    tail = stats.norm.cdf(-sqrt(many / (many - 1)) * stats.t.ppf((1 + level) / 2, many - 1))

    def mean(total: Any, size: Any, axis: int = -1) -> Any:
        return total.sum(axis=axis) / size.sum(axis=axis)

    found = stats.bootstrap(
        (np.array(sums), np.array(sizes, dtype=float)),
        mean,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=float(1 - 2 * tail),
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high), level)


def sign_test(values: Sequence[float], clusters: Sequence[str] | None) -> PValue | None:
    """Are as many clusters (or cases) better as worse? Equal ones do not count. None: all are equal."""
    sums, _ = sums_of_clusters(values, clusters)
    better, worse = sum(total > 0 for total in sums), sum(total < 0 for total in sums)
    if not better + worse:
        return None
    p = scipy_stats().binomtest(better, better + worse, 0.5).pvalue
    return PValue(float(p), True, better + worse)


def permutation_test(
    values: Sequence[float], clusters: Sequence[str] | None, seed: int, resamples: int = RESAMPLES
) -> PValue | None:
    """How often would the lift be as large if the labels of the arms were exchanged at random, case by case?"""
    np, stats = numpy(), scipy_stats()
    sums, _ = sums_of_clusters(values, clusters)
    if len(sums) < 2:
        return None
    exact = len(sums) <= EXACT_UNITS_MAX
    found = stats.permutation_test(
        (np.array(sums), np.zeros(len(sums))),
        lambda first, second, axis: (first - second).sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**EXACT_UNITS_MAX if exact else resamples,
        rng=np.random.default_rng(seed),
    )
    return PValue(float(found.pvalue), exact, len(sums))
