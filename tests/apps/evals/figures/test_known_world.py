"""Over a thousand simulated evals: intervals cover the truth as often as they say, and A against A shows no lift.

Both bounds are tested: an interval that covers too often is too wide. They are those within which a rate of exactly
95 % stays with a probability of 99.9 %, so a true rate of 93 % or 97 % fails.
"""

import numpy as np
import pytest
from scipy import stats

from apps.evals.figures.known_world import a_record, simulated
from manyhands.apps.evals.figures import LiftQuestion, compare
from manyhands.apps.evals.figures.estimate import estimated
from manyhands.apps.evals.figures.figure_values import LiftVerdict
from manyhands.apps.evals.figures.resampling import cluster_bootstrap
from manyhands.apps.evals.figures.sequence import confidence_sequence

REPEATS = 1_000
FEWEST, MOST = (int(bound) for bound in stats.binom.interval(0.999, REPEATS, 0.95))


@pytest.mark.parametrize("lift", [0.0, 0.1, 0.3])
def test_both_intervals_cover_a_known_lift_at_their_stated_rate(lift: float) -> None:
    rng = np.random.default_rng(int(lift * 10) + 1)
    by_t = by_bootstrap = below = above = 0
    for repeat in range(REPEATS):
        before, after = simulated(rng, lift)
        differences = (after - before).mean(axis=1).tolist()
        interval = estimated(differences, None, 0.95).interval
        resampled = cluster_bootstrap(differences, None, 0.95, seed=repeat, resamples=599)
        assert interval is not None
        assert resampled is not None
        by_t += interval.covers(lift)
        below += interval.high < lift
        above += interval.low > lift
        by_bootstrap += resampled.covers(lift)
    assert FEWEST <= by_t <= MOST
    assert FEWEST <= by_bootstrap <= MOST
    # What is missed is missed on both sides alike.
    assert stats.binomtest(below, below + above).pvalue > 0.001


def test_clustered_intervals_cover_where_plain_ones_do_not() -> None:
    """Cases of a cluster share most of their lift, and clusters differ in size."""
    rng = np.random.default_rng(11)
    sizes = [2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10, 10]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    names = [f"{group:02d}" for group in groups]
    clustered = plain = 0
    for _ in range(REPEATS):
        differences = (rng.normal(0.1, 0.2, len(sizes))[groups] + rng.normal(0, 0.2, len(groups))).tolist()
        ours, theirs = estimated(differences, names, 0.95).interval, estimated(differences, None, 0.95).interval
        assert ours is not None
        assert theirs is not None
        clustered += ours.covers(0.1)
        plain += theirs.covers(0.1)
    assert FEWEST <= clustered <= MOST
    assert plain < 0.8 * REPEATS


def test_a_null_arm_shows_a_lift_in_at_most_one_eval_of_twenty() -> None:
    rng = np.random.default_rng(12)
    alarms = {"t": 0, "bootstrap": 0, "sign": 0, "permutation": 0}
    for repeat in range(REPEATS):
        before, after = simulated(rng, 0.0, cases=15, replications=2, uneven=0.0)
        record = a_record({"a": before.tolist(), "again": after.tolist()}, same_as={"again": "a"})
        (lift,) = compare(record, LiftQuestion(seed=repeat, resamples=199)).lifts
        assert lift.null
        alarms["t"] += lift.verdict in (LiftVerdict.BETTER, LiftVerdict.WORSE)
        alarms["bootstrap"] += lift.bootstrap is not None and not lift.bootstrap.covers(0)
        alarms["sign"] += lift.sign is not None and lift.sign.p < 0.05
        alarms["permutation"] += lift.permutation is not None and lift.permutation.p < 0.05
    assert max(alarms.values()) <= REPEATS - FEWEST, alarms
    assert alarms["t"] >= REPEATS - MOST, alarms


def test_pass_or_fail_over_few_cases_is_a_false_alarm_a_little_more_often() -> None:
    """The coarsest of designs: the page on figures says up to 6 %."""
    rng = np.random.default_rng(15)
    repeats = 4 * REPEATS
    alarms = 0
    for _ in range(repeats):
        before, after = (rng.binomial(1, 0.2, (8, 3)).astype(float) for _ in range(2))
        p = estimated((after - before).mean(axis=1).tolist(), None, 0.95).p
        alarms += p is not None and p < 0.05
    assert alarms <= stats.binom.ppf(0.999, repeats, 0.06)


def test_blocks_on_a_host_that_degrades_look_like_a_lift_and_interleaving_does_not() -> None:
    """60 cases × 3 of two equal arms, one trial after the other; for 35 % of the run a third of successes is lost."""
    rng = np.random.default_rng(13)
    cases, replications = 60, 3
    trials = cases * replications
    alarms = {"blocks": 0, "interleaved": 0}
    for _ in range(REPEATS):
        usual = np.tile(rng.uniform(0.2, 0.9, cases), replications)
        begins = rng.uniform(0, 0.65)
        first = rng.integers(0, 2, trials)
        places = {
            "blocks": (np.arange(trials), np.arange(trials) + trials),
            "interleaved": (2 * np.arange(trials) + first, 2 * np.arange(trials) + 1 - first),
        }
        for order, (ours, theirs) in places.items():
            scores = []
            for place in (ours, theirs):
                when = place / (2 * trials)
                degraded = (when >= begins) & (when < begins + 0.35)
                scores.append(rng.random(trials) < usual * np.where(degraded, 2 / 3, 1.0))
            differences = (scores[1].astype(float) - scores[0]).reshape(replications, cases).mean(axis=0)
            alarms[order] += stats.ttest_1samp(differences, 0).pvalue < 0.05
    assert 0.45 * REPEATS < alarms["blocks"] < 0.55 * REPEATS  # the report says 50 %
    assert alarms["interleaved"] <= REPEATS - FEWEST


def test_a_confidence_sequence_may_be_looked_at_after_every_case() -> None:
    rng = np.random.default_rng(14)
    repeats, cases = 250, 50
    ever = peeked = found = 0
    for _ in range(repeats):
        before, after = simulated(rng, 0.0, cases=cases, replications=3)
        differences = (after - before).mean(axis=1)
        low, high = confidence_sequence(differences.tolist(), (0.0, 1.0), 0.95)
        ever += any(bottom > 0 or top < 0 for bottom, top in zip(low, high, strict=True))
        peeked += any(stats.ttest_1samp(differences[:n], 0).pvalue < 0.05 for n in range(10, cases + 1, 10))
        before, after = simulated(rng, 0.3, cases=cases, replications=3)
        low, _ = confidence_sequence((after - before).mean(axis=1).tolist(), (0.0, 1.0), 0.95)
        found += low[-1] > 0
    assert ever <= stats.binom.ppf(0.999, repeats, 0.05)
    assert peeked > 1.5 * 0.05 * repeats  # what looking often does to a plain t test
    assert found > 0.9 * repeats
