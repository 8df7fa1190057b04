"""What `compare` makes of a record: order does not matter, pairs are whole, and what is doubtful is marked."""

from math import nan

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.evals.figures.known_world import a_record, simulated
from manyhands.apps.evals.figures import Comparison, LiftQuestion, compare, decided
from manyhands.apps.evals.figures.figure_values import LiftVerdict, Mark
from manyhands.apps.evals.spec.eval_types import Concurrency, EvalRecord, Scorer, Troubles
from manyhands.errors import UsageError

QUICK = LiftQuestion(resamples=199)


def with_outcome(record: EvalRecord, arm: str, case: str, replication: int, **changes: object) -> EvalRecord:
    outcomes = tuple(
        msgspec.structs.replace(one, **changes) if one.key == (arm, case, replication) else one
        for one in record.outcomes
    )
    return msgspec.structs.replace(record, outcomes=outcomes)


def marks(comparison: Comparison, about: str) -> list[Mark]:
    return [mark for mark in comparison.marks if mark.about == about]


def ten_cases(lift: float = 0.3, seed: int = 1, clusters: list[str] | None = None) -> EvalRecord:
    before, after = simulated(np.random.default_rng(seed), lift, cases=10)
    return a_record({"plain": before.tolist(), "careful": after.tolist()}, clusters=clusters)


def odd_record() -> EvalRecord:
    """A bit of everything: sizes that add up differently in another order, taint, n/a, trouble, clusters."""
    rng = np.random.default_rng(2)
    scores = {arm: (rng.random((14, 4)) * 10.0 ** rng.integers(-8, 8, (14, 4))).tolist() for arm in "abc"}
    record = a_record(scores, clusters=[f"k{at % 5}" for at in range(14)], scorer=Scorer("size", "python"))
    record = with_outcome(record, "b", "c03", 2, tainted=True, why_tainted="context was injected")
    record = with_outcome(record, "c", "c05", 1, scores={"size": None})
    record = with_outcome(record, "a", "c07", 3, cost=0.1, troubles=Troubles(lost=2))
    return with_outcome(record, "a", "c01", 3, cost=1e17, tokens_in=7)


ODD = odd_record()
ODD_BYTES = msgspec.json.encode(compare(ODD, QUICK))


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(len(ODD.outcomes))))
def test_the_order_of_outcomes_does_not_matter_to_the_last_byte(order: list[int]) -> None:
    shuffled = msgspec.structs.replace(ODD, outcomes=tuple(ODD.outcomes[place] for place in order))
    assert msgspec.json.encode(compare(shuffled, QUICK)) == ODD_BYTES


def test_a_lift_is_the_mean_over_cases_of_paired_differences() -> None:
    record = a_record({"a": [[0, 0], [1, 0], [0, 1]], "b": [[1, 1], [1, 1], [0, 1]]})
    (lift,) = compare(record, QUICK).lifts
    assert [case.lift for case in lift.cases] == [1.0, 0.5, 0.0]
    assert (lift.baseline_mean, lift.arm_mean) == pytest.approx((1 / 3, 5 / 6))
    assert lift.estimate is not None
    assert (lift.estimate.mean, lift.estimate.sd) == pytest.approx((0.5, 0.5))
    assert (lift.unit, lift.pairs, lift.left_out.total) == ("case", 6, 0)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"scores": {"passed": None}}, "not_applicable"),
        ({"scores": {"passed": None}, "score_errors": {"passed": "ZeroDivisionError"}}, "scorer_error"),
        ({"scores": {"passed": nan}}, "scorer_error"),
        ({"scores": {"passed": float("-inf")}}, "scorer_error"),
        ({"state": "infrastructure", "scores": {}}, "infrastructure"),
        ({"state": "missing", "scores": {}}, "missing"),
        ({"state": "aborted", "scores": {}}, "missing"),
        ({"tainted": True, "why_tainted": "told the answer"}, "tainted"),
        ({"tainted": True, "state": "infrastructure"}, "tainted"),
    ],
)
@pytest.mark.parametrize("arm", ["plain", "careful"])
def test_what_does_not_count_in_one_arm_counts_in_neither(changes: dict[str, object], reason: str, arm: str) -> None:
    record = ten_cases()
    other = "careful" if arm == "plain" else "plain"
    (hurt,) = compare(with_outcome(record, arm, "c04", 2, **changes), QUICK).lifts
    assert getattr(hurt.left_out, reason) == hurt.left_out.total == 1
    assert hurt.pairs == 49
    # Whatever the partner scored makes no difference any more.
    scored = [with_outcome(record, other, "c04", 2, scores={"passed": score}) for score in (0.0, 1.0)]
    low, high = (compare(with_outcome(one, arm, "c04", 2, **changes), QUICK).lifts for one in scored)
    assert low == high == [hurt]


def test_tainted_trials_are_in_no_figure_of_their_arm_either_and_are_counted() -> None:
    record = with_outcome(ten_cases(), "careful", "c04", 2, tainted=True, why_tainted="told the answer", duration_s=1e6)
    comparison = compare(record, QUICK)
    careful = next(arm for arm in comparison.arms if arm.arm == "careful")
    assert (careful.tainted, careful.scored[0].count) == (1, 49)
    assert careful.seconds is not None
    assert careful.seconds.total < 1e6
    (mark,) = marks(comparison, "taint")
    assert "careful 1" in mark.text
    assert "told the answer" in mark.text


def test_an_eval_that_is_tainted_throughout_says_nothing() -> None:
    record = ten_cases()
    outcomes = tuple(msgspec.structs.replace(one, tainted=True) for one in record.outcomes)
    comparison = compare(msgspec.structs.replace(record, outcomes=outcomes), QUICK)
    assert comparison.lifts[0].verdict == LiftVerdict.UNKNOWN
    assert comparison.lifts[0].left_out.tainted == 50
    assert comparison.arms[0].scored[0].mean is None
    assert comparison.family == 0


def test_no_spread_is_no_signal_by_a_t_of_nought() -> None:
    same = a_record({"a": [[1.0] * 3] * 6, "b": [[1.0] * 3] * 6})
    (lift,) = compare(same, QUICK).lifts
    assert lift.estimate is not None
    assert (lift.estimate.sd, lift.estimate.t, lift.estimate.p, lift.estimate.interval) == (0.0, None, None, None)
    assert lift.verdict == LiftVerdict.UNDECIDED
    assert lift.sign is None
    assert any("all differences are equal" in note for note in lift.notes)


def test_one_case_without_an_interval_does_not_speak_of_its_interval() -> None:
    (alone,) = compare(a_record({"a": [[1.0]], "b": [[0.0]]}), QUICK).lifts
    assert alone.notes[0] == "a single difference has no spread, so there is no interval"
    assert not any("the interval is about" in note for note in alone.notes)
    assert "with one case the lift is about this case only, not about similar cases" in alone.notes
    (repeated,) = compare(a_record({"a": [[1.0, 0.5, 0.2]], "b": [[0.0, 0.1, 0.3]]}), QUICK).lifts
    assert "with one case the interval is about this case only, not about similar cases" in repeated.notes


def test_no_spread_but_a_lift_in_every_case_is_told_by_the_permutation_test() -> None:
    (lift,) = compare(a_record({"a": [[0.0]] * 8, "b": [[1.0]] * 8}), QUICK).lifts
    assert lift.estimate is not None
    assert lift.estimate.t is None
    assert lift.permutation is not None
    assert lift.p == lift.permutation.p == pytest.approx(2 / 2**8)
    assert lift.verdict == LiftVerdict.BETTER
    (few,) = compare(a_record({"a": [[0.0]] * 3, "b": [[1.0]] * 3}), QUICK).lifts
    assert few.verdict == LiftVerdict.UNDECIDED  # three cases could all be better by chance


def test_one_case_is_judged_over_its_replications_and_says_so() -> None:
    (lift,) = compare(a_record({"a": [[0, 0, 1, 0, 0]], "b": [[1, 1, 1, 0, 1]]}), QUICK).lifts
    assert lift.unit == "replication"
    assert lift.estimate is not None
    assert (lift.estimate.units, lift.estimate.df) == (5, 4.0)
    assert any("this case only" in note for note in lift.notes)
    assert lift.needed[0].replications is not None
    assert lift.needed[0].cases is None


def test_one_case_and_one_replication_give_a_lift_without_an_interval() -> None:
    (lift,) = compare(a_record({"a": [[0.0]], "b": [[1.0]]}), QUICK).lifts
    assert lift.estimate is not None
    assert lift.estimate.mean == 1.0
    assert lift.estimate.interval is None
    assert lift.verdict == LiftVerdict.UNKNOWN


def test_clusters_are_the_units_where_cases_share_one() -> None:
    clusters = [f"k{at // 2}" for at in range(10)]
    (plain,), (clustered,) = (compare(ten_cases(clusters=key), QUICK).lifts for key in (None, clusters))
    assert (plain.unit, clustered.unit) == ("case", "cluster")
    assert plain.estimate is not None
    assert clustered.estimate is not None
    assert clustered.estimate.mean == plain.estimate.mean
    assert clustered.estimate.df == pytest.approx(4)
    assert clustered.estimate.clusters == 5
    (one,) = compare(ten_cases(clusters=["k"] * 10), QUICK).lifts
    assert one.verdict == LiftVerdict.UNKNOWN
    assert "one cluster" in one.notes[0]


def test_many_comparisons_are_corrected_and_null_arms_are_no_part_of_them() -> None:
    rng = np.random.default_rng(5)
    scores = {arm: rng.random((12, 3)).tolist() for arm in ("a", "b", "c", "again")}
    comparison = compare(a_record(scores, same_as={"again": "a"}), QUICK)
    b, c, again = comparison.lifts
    assert comparison.family == 2
    assert b.p is not None
    assert c.p is not None
    assert b.p_adjusted is not None
    assert c.p_adjusted is not None
    assert sorted((b.p_adjusted, c.p_adjusted))[0] == pytest.approx(min(1.0, 2 * min(b.p, c.p)))
    assert again.null
    assert again.p_adjusted == again.p


def test_a_null_arm_that_shows_a_lift_is_the_first_thing_to_know() -> None:
    rng = np.random.default_rng(6)
    scores = rng.random((12, 3))
    quiet = a_record({"a": scores.tolist(), "again": rng.permutation(scores.T).T.tolist()}, same_as={"again": "a"})
    loud = a_record({"a": scores.tolist(), "again": (scores + rng.random((12, 3))).tolist()}, same_as={"again": "a"})
    assert [mark.serious for mark in marks(compare(quiet, QUICK), "null")] == [False]
    (mark,) = marks(compare(loud, QUICK), "null")
    assert mark.serious
    assert "do not trust" in mark.text


def test_a_null_arm_of_another_arm_is_compared_with_that_one() -> None:
    record = a_record({"a": [[0.0]] * 6, "b": [[1.0]] * 6, "b2": [[1.0]] * 6}, same_as={"b2": "b"})
    assert [(lift.arm, lift.baseline, lift.null) for lift in compare(record, QUICK).lifts] == [
        ("b", "a", False),
        ("b2", "b", True),
    ]


def test_different_trouble_in_the_arms_is_marked_and_the_same_is_not() -> None:
    record = ten_cases()
    assert marks(compare(record, QUICK), "trouble") == []
    both = record
    for arm in ("plain", "careful"):
        both = with_outcome(both, arm, "c01", 1, troubles=Troubles(rate_limited=2))
    assert marks(compare(both, QUICK), "trouble") == []
    assert not compare(both, QUICK).lifts[0].trouble_differs
    one = with_outcome(record, "careful", "c01", 1, troubles=Troubles(rate_limited=9, lost=1))
    assert compare(one, QUICK).lifts[0].trouble_differs
    (mark,) = marks(compare(one, QUICK), "trouble")
    assert mark.serious
    assert "careful 10 of 50 attempts (9 × 429, 1 × lost), plain 0 of 50 attempts" in mark.text
    given_up = with_outcome(record, "careful", "c01", 1, state="infrastructure", scores={})
    (mark,) = marks(compare(given_up, QUICK), "trouble")
    assert "careful 1, plain 0" in mark.text


def test_time_outs_of_one_arm_and_broken_scorers_are_marked() -> None:
    record = with_outcome(ten_cases(), "careful", "c01", 1, timed_out=1)
    record = with_outcome(record, "plain", "c02", 1, scores={"passed": None}, score_errors={"passed": "no such file"})
    comparison = compare(record, QUICK)
    assert "careful 1, plain 0" in marks(comparison, "time-outs")[0].text
    assert "plain 1" in marks(comparison, "scorers")[0].text


def test_what_blocks_cost_is_said_where_the_arms_did_not_alternate() -> None:
    record = ten_cases()
    assert marks(compare(record, QUICK), "order") == []
    blocks = msgspec.structs.replace(record, spec=msgspec.structs.replace(record.spec, interleave=False))
    (mark,) = marks(compare(blocks, QUICK), "order")
    assert "50 % false positives" in mark.text
    always_first = tuple(
        msgspec.structs.replace(one, position=1 if one.arm == "plain" else 2) for one in record.outcomes
    )
    (mark,) = marks(compare(msgspec.structs.replace(record, outcomes=always_first), QUICK), "order")
    assert "in 0 of 50 pairs" in mark.text


def test_an_eval_that_was_stopped_and_one_that_ran_wide_say_so() -> None:
    record = msgspec.structs.replace(ten_cases(), state="aborted", concurrency=Concurrency(8, "auto"))
    comparison = compare(with_outcome(record, "plain", "c09", 5, state="aborted", scores={}), QUICK)
    assert "1 of 100 trials" in marks(comparison, "run")[0].text
    assert "8 trials at once" in marks(comparison, "concurrency")[0].text


def test_a_confidence_sequence_is_made_when_asked_for_and_only_for_scores_with_bounds() -> None:
    before, after = simulated(np.random.default_rng(1), 0.3, cases=60)
    record = a_record({"a": before.tolist(), "b": after.tolist()})
    assert compare(record, QUICK).stops == []
    (stop,) = compare(record, QUICK, sequential=True).stops
    assert stop.decided_after is not None
    assert stop.decided_after < 60
    assert stop.low[stop.decided_after - 1] > 0
    assert len(stop.low) == 60
    unbounded = a_record({"a": [[1.0]], "b": [[2.0]]}, scorer=Scorer("size", "python"))
    with pytest.raises(UsageError, match=r"`size` \(python\)"):
        compare(unbounded, QUICK, sequential=True)
    grouped = a_record({"a": [[1.0]], "b": [[9.0]]}, scorer=Scorer("size", "regex", pattern=r"(?P<score>\d+)"))
    with pytest.raises(UsageError, match=r"`size` \(regex\)"):
        compare(grouped, QUICK, sequential=True)


def test_an_eval_that_stopped_when_it_was_decided_is_whole_and_judged_by_its_sequence() -> None:
    record = a_record({"a": [[0.0]] * 30, "b": [[1.0]] * 30}, stop_when_decided=True)
    record = with_outcome(record, "b", "c29", 1, state="missing", scores={})
    comparison = compare(msgspec.structs.replace(record, state="decided"), QUICK)
    (mark,) = marks(comparison, "run")
    assert "1 of 60 trials were not needed" in mark.text
    assert "not whole" not in mark.text
    assert comparison.stops[0].decided_after is not None


def test_an_eval_is_decided_only_by_cases_that_are_over_and_in_their_planned_order() -> None:
    record = a_record({"a": [[0.0, 0.0]] * 30, "b": [[1.0, 1.0]] * 30})
    assert decided(record)
    late = with_outcome(record, "b", "c00", 2, state="missing", scores={})
    assert not decided(late)  # whatever the others say: the first case is not over
    (stop,) = compare(late, QUICK, sequential=True).stops
    assert stop.low == []
    last = with_outcome(record, "b", "c29", 2, state="missing", scores={})
    assert decided(last)
    assert not decided(a_record({"a": [[0.0, 1.0]] * 30, "b": [[1.0, 0.0]] * 30}))


def test_an_outcome_that_is_there_twice_is_refused() -> None:
    record = ten_cases()
    twice = msgspec.structs.replace(record, outcomes=(*record.outcomes, record.outcomes[3]))
    with pytest.raises(UsageError, match="arm `plain` has two outcomes for replication 4 of case `c00`"):
        compare(twice, QUICK)


@pytest.mark.parametrize(("level", "power"), [(1.0, 0.8), (95, 0.8), (0.95, 0), (nan, 0.8)])
def test_a_level_or_power_that_is_no_share_is_refused(level: float, power: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        compare(ten_cases(), LiftQuestion(level=level, power=power))


def test_a_baseline_that_is_no_arm_is_refused() -> None:
    record = ten_cases()
    spec = msgspec.structs.replace(record.spec, baseline="plian")
    with pytest.raises(UsageError, match="`plian` is not an arm"):
        compare(msgspec.structs.replace(record, spec=spec), QUICK)


def test_an_arm_alone_has_figures_and_nothing_is_compared() -> None:
    record = a_record({"a": [[0.0, 1.0]] * 3})
    comparison = compare(record, QUICK)
    assert comparison.lifts == []
    assert comparison.arms[0].scored[0].mean == 0.5
