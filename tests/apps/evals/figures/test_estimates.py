"""The same numbers as scipy and statsmodels on the same differences, to 1e-9."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from manyhands.apps.evals.figures.corrections import holm
from manyhands.apps.evals.figures.estimate import estimated, hedges_g, se_cr1, se_cr2
from manyhands.apps.evals.figures.power import Design, detectable_lift, needed_for, power_of
from manyhands.apps.evals.figures.resampling import RESAMPLES, cluster_bootstrap, permutation_test, sign_test

CLOSE = {"rel": 1e-9, "abs": 1e-9}
spread_out = st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=3, max_size=40)


@settings(max_examples=40, deadline=None)
@given(spread_out)
def test_the_paired_t_is_that_of_scipy_and_statsmodels(differences: list[float]) -> None:
    assume(np.std(differences) > 1e-6)
    ours = estimated(differences, None, 0.95)
    theirs = stats.ttest_1samp(differences, 0)
    interval = theirs.confidence_interval(0.95)
    assert ours.t == pytest.approx(theirs.statistic, **CLOSE)
    assert ours.p == pytest.approx(theirs.pvalue, **CLOSE)
    assert ours.df == theirs.df
    assert ours.interval is not None
    assert (ours.interval.low, ours.interval.high) == pytest.approx((interval.low, interval.high), **CLOSE)
    also = DescrStatsW(differences)
    assert (ours.mean, ours.se, ours.sd) == pytest.approx(
        (also.mean, also.std_mean, np.std(differences, ddof=1)), **CLOSE
    )
    assert (ours.interval.low, ours.interval.high) == pytest.approx(also.tconfint_mean(0.05), **CLOSE)


@settings(max_examples=25, deadline=None)
@given(spread_out, st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_the_clustered_error_is_that_of_statsmodels(differences: list[float], many: int, seed: int) -> None:
    assume(np.std(differences) > 1e-6)
    groups = np.random.default_rng(seed).integers(0, many, len(differences))
    assume(len(set(groups)) > 1)
    theirs = OLS(differences, np.ones(len(differences))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    assert se_cr1(differences, [str(group) for group in groups]) == pytest.approx(theirs.bse[0], **CLOSE)


@pytest.mark.parametrize(("clusters", "size"), [(6, 4), (12, 2), (20, 1)])
def test_with_equal_clusters_the_whole_estimate_is_that_of_statsmodels(clusters: int, size: int) -> None:
    rng = np.random.default_rng(clusters)
    groups = np.repeat(np.arange(clusters), size)
    differences = (rng.normal(0.1, 0.3, clusters)[groups] + rng.normal(0, 0.2, len(groups))).tolist()
    theirs = OLS(differences, np.ones(len(groups))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    ours = estimated(differences, [str(group) for group in groups], 0.95)
    assert (ours.mean, ours.se) == pytest.approx((theirs.params[0], theirs.bse[0]), **CLOSE)
    assert (ours.t, ours.p) == pytest.approx((theirs.tvalues[0], theirs.pvalues[0]), **CLOSE)
    assert ours.df == pytest.approx(clusters - 1, **CLOSE)
    assert ours.interval is not None
    assert (ours.interval.low, ours.interval.high) == pytest.approx(theirs.conf_int(0.05)[0], **CLOSE)


def test_with_unequal_clusters_the_bias_reduced_error_is_the_textbook_formula() -> None:
    """(I - H)^-½ of each cluster by its eigenvalues, and the moments of the quadratic form, with no shortcut."""
    rng = np.random.default_rng(3)
    sizes = [1, 2, 3, 9]
    names = [str(number) for number, size in enumerate(sizes) for _ in range(size)]
    values = rng.normal(size=len(names))
    n = len(names)
    ones = np.ones((n, 1))
    residue_of = np.eye(n) - ones @ ones.T / n
    rows = []
    for name in sorted(set(names)):
        inside = np.array([other == name for other in names])
        hat = (residue_of[np.ix_(inside, inside)] + residue_of[np.ix_(inside, inside)].T) / 2
        eigenvalues, vectors = np.linalg.eigh(hat)
        adjusted = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        rows.append(np.ones(inside.sum()) @ adjusted @ residue_of[inside] / n)
    form = np.array(rows)
    moments = form @ form.T
    se, df = se_cr2(values.tolist(), names)
    assert se == pytest.approx(np.sqrt(((form @ values) ** 2).sum()), **CLOSE)
    assert df == pytest.approx(np.trace(moments) ** 2 / np.trace(moments @ moments), **CLOSE)


def test_holm_is_that_of_statsmodels_and_leaves_out_what_has_no_p() -> None:
    p_values = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], **CLOSE)
    assert holm([0.01, None, 0.04]) == pytest.approx([0.02, None, 0.04])
    assert holm([]) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 60), st.floats(0.05, 1.5))
def test_power_is_that_of_statsmodels(cases: int, effect: float) -> None:
    design = Design(cases, 1.0, between=1.0, within=None, df=cases - 1.0)
    theirs = TTestPower().power(effect, cases, 0.05)
    assert power_of(design, effect) == pytest.approx(1.0 if np.isnan(theirs) else theirs, **CLOSE)


def test_the_number_of_cases_needed_is_that_of_statsmodels_rounded_up() -> None:
    design = Design(10, 1.0, between=0.09, within=None, df=9.0)
    needed = needed_for(design, 0.1, 0.8)
    assert needed.cases == int(np.ceil(TTestPower().solve_power(0.1 / 0.3, power=0.8, alpha=0.05)))
    assert needed.replications is None  # one replication a case does not tell how much more of them would help
    seen = detectable_lift(design, 0.8)
    assert seen is not None
    assert power_of(design, seen) == pytest.approx(0.8, abs=1e-3)


def test_replications_help_only_with_what_differs_between_them() -> None:
    noisy = Design(10, 5.0, between=0.0, within=0.25, df=9.0)
    needed = needed_for(noisy, 0.2, 0.8)
    assert needed.replications is not None
    assert power_of(noisy.with_replications(needed.replications), 0.2) >= 0.8
    assert power_of(noisy.with_replications(needed.replications - 1), 0.2) < 0.8
    uneven = Design(10, 5.0, between=0.25, within=0.01, df=9.0)
    assert needed_for(uneven, 0.2, 0.8).replications is None
    assert needed_for(uneven, 0.2, 0.8).cases is not None


def test_the_sign_test_counts_what_differs() -> None:
    tested = sign_test([0.2, 0.1, 0.0, -0.1, 0.3, 0.4, 0.5, 0.1], None)
    assert tested is not None
    assert tested.units == 7
    assert tested.p == pytest.approx(stats.binomtest(6, 7).pvalue, **CLOSE)
    assert sign_test([0.0, 0.0], None) is None


def exchanged_by_hand(differences: list[float]) -> float:
    signs = np.array(np.meshgrid(*[[1, -1]] * len(differences))).reshape(len(differences), -1)
    sums = np.abs(np.array(differences) @ signs)
    return float((sums >= abs(sum(differences)) * (1 - 1e-9)).mean())


def test_a_small_permutation_test_looks_at_every_exchange_of_labels() -> None:
    differences = [0.2, 0.4, -0.1, 0.6, 0.0, 0.3, 0.25]
    tested = permutation_test(differences, None, seed=1)
    assert tested is not None
    assert tested.exact
    assert tested.p == pytest.approx(exchanged_by_hand(differences), **CLOSE)
    # Cases of one cluster are exchanged together: as if the cluster were one case.
    clustered = permutation_test([0.2, 0.4, -0.1, 0.6], ["x", "x", "y", "z"], seed=1)
    assert clustered is not None
    assert clustered.p == pytest.approx(exchanged_by_hand([0.6, -0.1, 0.6]), **CLOSE)


def test_a_large_permutation_test_draws_and_stays_near_the_t_test() -> None:
    differences = np.random.default_rng(5).normal(0.15, 0.4, 40).tolist()
    tested = permutation_test(differences, None, seed=1)
    assert tested is not None
    assert not tested.exact
    p = stats.ttest_1samp(differences, 0).pvalue
    assert tested.p == pytest.approx(p, abs=4 * np.sqrt(p / RESAMPLES) + 0.005)


def test_the_bootstrap_is_seeded_and_resamples_whole_clusters() -> None:
    rng = np.random.default_rng(7)
    clusters = [str(number) for number in range(12) for _ in range(5)]
    shared = np.repeat(rng.normal(0.1, 0.3, 12), 5)
    differences = (shared + rng.normal(0, 0.01, 60)).tolist()
    together = cluster_bootstrap(differences, clusters, 0.95, seed=3)
    alone = cluster_bootstrap(differences, None, 0.95, seed=3)
    assert together is not None
    assert alone is not None
    assert together == cluster_bootstrap(differences, clusters, 0.95, seed=3)
    assert together != cluster_bootstrap(differences, clusters, 0.95, seed=4)
    by_t = estimated(differences, clusters, 0.95).interval
    assert by_t is not None
    assert (together.high - together.low) == pytest.approx(by_t.high - by_t.low, rel=0.1)
    assert (together.high - together.low) > 1.8 * (alone.high - alone.low)
    assert cluster_bootstrap([0.1, 0.2, 0.3, 0.4], None, 0.95, seed=3) is None


@pytest.mark.parametrize("of", [hedges_g, lambda values: estimated(values, None, 0.95).t])
def test_no_spread_gives_no_effect_size_and_no_t(of: Callable[[list[float]], float | None]) -> None:
    assert of([0.2, 0.2, 0.2]) is None
    assert of([0.1 + 0.2, 0.3, 0.3]) is None  # differs by rounding alone
    assert of([0.0, 0.0]) is None


def test_the_effect_size_is_hedges_g() -> None:
    differences = [0.1, 0.3, 0.2, 0.5, -0.1, 0.4]
    plain = np.mean(differences) / np.std(differences, ddof=1)
    assert hedges_g(differences) == pytest.approx(plain * (1 - 3 / (4 * 5 - 1)), rel=5e-3)  # the usual approximation
