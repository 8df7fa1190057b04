"""What the design can see: the power of the paired t test, and how many replications or cases a lift needs."""

from collections.abc import Callable
from math import isnan, sqrt
from typing import Any

from msgspec import Struct

from manyhands.apps.evals.figures.figure_values import Needed
from manyhands.apps.evals.figures.libraries import scipy_special

REPLICATIONS_MAX = 10_000
CASES_MAX = 1_000_000
#: Beyond this many standard errors the power is 1, and the non-central t of scipy fails.
CERTAIN = 30.0


class Design(Struct, frozen=True):
    """The sources of spread: the difference of a case has the variance `between + within / replications`."""

    cases: int
    replications: float  # per case; the harmonic mean if they differ
    between: float  # variance of the true lift from case to case
    within: float | None  # variance of the lift of one replication; None if each case has only one
    df: float
    inflation: float = 1.0  # of the variance, because of clusters
    level: float = 0.95

    def with_replications(self, replications: int) -> "Design":
        return Design(self.cases, replications, self.between, self.within, self.df, self.inflation, self.level)

    def with_cases(self, cases: int) -> "Design":
        # Assumes that further cases come in clusters of the same size.
        df = max(1.0, (self.df + 1) * cases / self.cases - 1)
        return Design(cases, self.replications, self.between, self.within, df, self.inflation, self.level)

    @property
    def se(self) -> float:
        noise = 0.0 if self.within is None else self.within / self.replications
        return sqrt(self.inflation * (self.between + noise) / self.cases)


def design_of(
    sd: float, cases: int, within: float | None, replications: float, df: float, inflation: float, level: float
) -> Design:
    """`sd` is the spread of the differences of cases. What replications do not explain is between cases."""
    between = sd**2 if within is None else max(0.0, sd**2 - within / replications)
    return Design(cases, replications, between, within, df, inflation, level)


def power_of(design: Design, lift: float) -> float:
    """The chance that a true lift of this size is seen."""
    if design.se == 0:
        return 1.0 if lift else 1 - design.level
    special = scipy_special()
    critical = float(special.stdtrit(design.df, (1 + design.level) / 2))
    shift = abs(lift) / design.se
    if shift - critical > CERTAIN:
        return 1.0
    return 1 - _below(special, critical, design.df, shift) + _below(special, -critical, design.df, shift)


def _below(special: Any, value: float, df: float, shift: float) -> float:
    """The cdf of the non-central t. scipy returns nan if it is too small."""
    found = float(special.nctdtr(df, shift, value))
    return 0.0 if isnan(found) else found


def detectable_lift(design: Design, power: float) -> float | None:
    if design.se == 0:
        return None
    low, high = 0.0, design.se
    while power_of(design, high) < power:
        low, high = high, high * 2
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(design, middle) >= power else (middle, high)
    return high


def needed_for(design: Design, lift: float, power: float) -> Needed:
    replications = None
    if design.within is not None:
        replications = _smallest(1, REPLICATIONS_MAX, lambda n: power_of(design.with_replications(n), lift) >= power)
    cases = _smallest(2, CASES_MAX, lambda n: power_of(design.with_cases(n), lift) >= power)
    return Needed(lift, power_of(design, lift), replications, cases)


def _smallest(low: int, high: int, enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough. Assumes that a larger number is never worse."""
    if not enough(high):
        return None
    step = low
    while step < high and not enough(step):
        low, step = step + 1, step * 2
    high = min(high, step)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high
