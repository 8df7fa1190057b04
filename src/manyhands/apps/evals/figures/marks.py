"""What to know before you trust the figures: trouble, taint, order, size, a null arm that shows a lift."""

from collections.abc import Iterator, Mapping, Sequence

from manyhands.apps.evals.figures.figure_values import ArmFigures, Lift, LiftVerdict, Mark
from manyhands.apps.evals.figures.libraries import scipy_stats
from manyhands.apps.evals.figures.pairs import Key
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.quantities import quantity

REPLICATIONS_MIN = 5
CASES_MIN = 5
#: Measured over simulated evals of 60 cases × 3 at a nominal 5 %: tests/evals/figures/test_known_world.py.
COST_OF_BLOCKS = (
    "the arms did not alternate: any change on the host during the eval looks like a lift. On a host that loses a "
    "third of its successes for a third of the run, blocks have 50 % false positives; interleaved arms have 5 %"
)
WORDS = {"rate_limited": "429", "overloaded": "overloaded", "out_of_memory": "out of memory"}


def marks_of(
    record: EvalRecord,
    outcomes: Mapping[Key, TrialOutcome],
    arms: Sequence[ArmFigures],
    lifts: Sequence[Lift],
    level: float,
) -> list[Mark]:
    return [
        *_about_the_run(record),
        *_about_order(record, outcomes),
        *_about_taint(outcomes, arms),
        *_about_trouble(record, arms, 1 - level),
        *_about_scores(arms, lifts),
        *_about_null_arms(lifts),
        *_about_size(record, lifts),
        *(Mark("run", warning, serious=False) for warning in record.warnings),
    ]


def told_trouble(arm: ArmFigures) -> str:
    total = sum(arm.trouble.values())
    kinds = ", ".join(f"{count} × {WORDS.get(name, name)}" for name, count in arm.trouble.items() if count)
    return f"{arm.arm} {total} of {quantity(arm.attempts, 'attempt')}" + (f" ({kinds})" if kinds else "")


def _about_the_run(record: EvalRecord) -> Iterator[Mark]:
    if record.state == "finished":
        return
    left = sum(outcome.state in ("missing", "aborted") for outcome in record.outcomes)
    if record.state == "decided":
        # The scores chose when to stop, so a fixed-size interval covers the truth less often than it claims.
        told = f"stopped when every comparison was decided: {left} of {len(record.outcomes)} trials were not needed"
        yield Mark("run", f"{told}. After such a stop, trust the confidence sequences", serious=False)
        return
    how = record.state.replace("_", " ")
    yield Mark("run", f"the eval is incomplete ({how}): {left} of {len(record.outcomes)} trials have no outcome")


def _about_order(record: EvalRecord, outcomes: Mapping[Key, TrialOutcome]) -> Iterator[Mark]:
    if len(record.spec.arms) < 2:
        return
    if not record.spec.interleave:
        yield Mark("order", COST_OF_BLOCKS)
        return
    baseline = record.spec.baseline
    for arm in record.spec.arms:
        if arm.name == baseline:
            continue
        ahead, of = _times_ahead(outcomes, arm.name, baseline)
        # A balanced draw gives half. An arm that was first far more often has the effect of the order in its scores.
        if of and scipy_stats().binomtest(ahead, of, 0.5).pvalue < 0.01:
            told = f"`{arm.name}` ran before `{baseline}` in {ahead} of {of} pairs"
            yield Mark("order", f"{told}: an effect of order would show as a lift")


def _times_ahead(outcomes: Mapping[Key, TrialOutcome], arm: str, baseline: str) -> tuple[int, int]:
    ahead = of = 0
    for (name, case, replication), outcome in outcomes.items():
        other = outcomes.get((baseline, case, replication))
        if name == arm and other is not None and outcome.position and other.position:
            of += 1
            ahead += outcome.position < other.position
    return ahead, of


def _about_taint(outcomes: Mapping[Key, TrialOutcome], arms: Sequence[ArmFigures]) -> Iterator[Mark]:
    tainted = [outcome for outcome in outcomes.values() if outcome.tainted]
    if not tainted:
        return
    each = ", ".join(f"{arm.arm} {arm.tainted}" for arm in arms)
    why = "; ".join(sorted({outcome.why_tainted for outcome in tainted if outcome.why_tainted}))
    told = f"tainted trials are quarantined ({each}): no figure counts them or their partners in other arms"
    yield Mark("taint", f"{told}; {why}" if why else told)


def _about_trouble(record: EvalRecord, arms: Sequence[ArmFigures], alpha: float) -> Iterator[Mark]:
    baseline = next(arm for arm in arms if arm.arm == record.spec.baseline)
    for arm in arms:
        if arm is baseline:
            continue
        ours, theirs = sum(arm.trouble.values()), sum(baseline.trouble.values())
        told = f"{told_trouble(arm)}, {told_trouble(baseline)}"
        if _share_differs(arm, baseline):
            p = _fisher(ours, arm.attempts, theirs, baseline.attempts)
            yield Mark(
                "trouble",
                f"the arms had different infrastructure trouble: {told}; p = {p:.2g} if it were chance",
                p < alpha,
            )
        if arm.lost_to_infrastructure != baseline.lost_to_infrastructure:
            lost = ", ".join(f"{one.arm} {one.lost_to_infrastructure}" for one in (arm, baseline))
            yield Mark(
                "trouble",
                f"the arms lost different numbers of trials to infrastructure: {lost}; no figure counts their pairs",
            )
        if arm.timed_out != baseline.timed_out:
            p = _fisher(arm.timed_out, arm.planned, baseline.timed_out, baseline.planned)
            each = f"{arm.arm} {arm.timed_out}, {baseline.arm} {baseline.timed_out}"
            text = f"different numbers of sessions timed out: {each}"
            yield Mark("time-outs", f"{text}; on a loaded host that is part of the treatment", p < alpha)


def trouble_differs(arm: ArmFigures, other: ArmFigures) -> bool:
    return _share_differs(arm, other) or arm.lost_to_infrastructure != other.lost_to_infrastructure


def _share_differs(arm: ArmFigures, other: ArmFigures) -> bool:
    """The p-value of the difference in attempts that infrastructure ended."""
    ours, theirs = sum(arm.trouble.values()), sum(other.trouble.values())
    return ours * max(1, other.attempts) != theirs * max(1, arm.attempts)


def _fisher(first: int, of_first: int, second: int, of_second: int) -> float:
    table = [[first, max(0, of_first - first)], [second, max(0, of_second - second)]]
    return float(scipy_stats().fisher_exact(table).pvalue)


def _about_scores(arms: Sequence[ArmFigures], lifts: Sequence[Lift]) -> Iterator[Mark]:
    broken = [arm for arm in arms if arm.scorer_errors]
    if broken:
        each = ", ".join(f"{arm.arm} {arm.scorer_errors}" for arm in broken)
        yield Mark("scorers", f"scorers broke and gave no score: {each}; no figure of that scorer counts their pairs")
    for lift in lifts:
        if lift.left_out.not_applicable:
            left = lift.left_out.not_applicable
            of = lift.pairs + lift.left_out.total
            told = f"`{lift.scorer}` did not apply in {left} of {of} pairs of {lift.arm} and {lift.baseline}"
            yield Mark("scorers", f"{told}: these are left out in both arms", serious=False)


def _about_null_arms(lifts: Sequence[Lift]) -> Iterator[Mark]:
    for lift in lifts:
        if not lift.null or lift.estimate is None:
            continue
        told = f"null arm: `{lift.arm}` repeats `{lift.baseline}`"
        if lift.verdict in (LiftVerdict.BETTER, LiftVerdict.WORSE):
            lifted = f"{told}, but `{lift.scorer}` shows a lift of {lift.estimate.mean:+.3g} (p = {lift.p:.2g})"
            yield Mark(
                "null", f"{lifted}: do not trust the other lifts; run the eval again to see whether it was chance"
            )
        else:
            yield Mark("null", f"{told}, and `{lift.scorer}` shows no lift, as it should", serious=False)


def _about_size(record: EvalRecord, lifts: Sequence[Lift]) -> Iterator[Mark]:
    if record.spec.replications < REPLICATIONS_MIN:
        text = f"there are few replications per case ({record.spec.replications}): one lucky run counts a lot"
        yield Mark("size", text, serious=False)
    count = len(record.spec.cases)
    if count == 1:
        yield Mark("size", "there is one case: the result is about it alone", serious=False)
    elif count < CASES_MIN:
        has_interval = any(lift.estimate is not None and lift.estimate.interval is not None for lift in lifts)
        so = ": the interval is wide because it is about similar cases too" if has_interval else ""
        yield Mark("size", f"there are few cases ({count}){so}", serious=False)
    if record.concurrency.n > 1:
        text = f"{record.concurrency.n} trials at once, the same for all arms: concurrency is part of the treatment"
        yield Mark("concurrency", text, serious=False)
