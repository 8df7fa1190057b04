"""Computes the figures of an eval from its record. The order of the outcomes does not change a single bit."""

from collections.abc import Mapping

import msgspec

from manyhands.apps.evals.figures.arms import arm_figures
from manyhands.apps.evals.figures.corrections import holm
from manyhands.apps.evals.figures.figure_values import Comparison, Lift
from manyhands.apps.evals.figures.lifts import LiftQuestion, lift_of, verdict_of
from manyhands.apps.evals.figures.marks import marks_of, trouble_differs
from manyhands.apps.evals.figures.pairs import Key, by_key, paired
from manyhands.apps.evals.figures.stopping import stops_of
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.errors import UsageError


def compare(record: EvalRecord, ask: LiftQuestion | None = None, sequential: bool = False) -> Comparison:
    """Compares every arm with the baseline by every scorer, and a null arm with the arm that it repeats.

    `sequential` adds confidence sequences. An eval that may stop early always has them.
    """
    ask = ask or LiftQuestion(seed=record.spec.seed)
    _check(record, ask)
    outcomes = by_key(record.outcomes)
    lifts = _adjusted(_lifts(record, outcomes, ask), ask.level)
    scorers = [scorer.name for scorer in record.spec.scorers]
    planned = len(record.spec.cases) * record.spec.replications
    arms = [
        arm_figures(arm.name, planned, [one for one in outcomes.values() if one.arm == arm.name], scorers)
        for arm in record.spec.arms
    ]
    by_name = {arm.arm: arm for arm in arms}
    lifts = [
        msgspec.structs.replace(lift, trouble_differs=trouble_differs(by_name[lift.arm], by_name[lift.baseline]))
        for lift in lifts
    ]
    return Comparison(
        name=record.spec.name,
        baseline=record.spec.baseline,
        level=ask.level,
        power=ask.power,
        family=sum(lift.p is not None and not lift.null for lift in lifts),
        arms=arms,
        lifts=lifts,
        marks=marks_of(record, outcomes, arms, lifts, ask.level),
        stops=stops_of(record, outcomes, ask.level) if sequential or record.spec.stop_when_decided else [],
    )


def _check(record: EvalRecord, ask: LiftQuestion) -> None:
    if not 0 < ask.level < 1:
        raise UsageError(f"the level of confidence must be between 0 and 1, got {ask.level}", "0.95 is usual")
    if not 0 < ask.power < 1:
        raise UsageError(f"the power must be between 0 and 1, got {ask.power}", "0.8 is usual")
    names = [arm.name for arm in record.spec.arms]
    if record.spec.baseline not in names:
        raise UsageError(
            f"the baseline `{record.spec.baseline}` is not an arm of eval `{record.spec.name}`",
            f"arms: {', '.join(names)}",
        )


def _opponents(record: EvalRecord) -> list[tuple[str, str, bool]]:
    """(arm, what it is compared with, whether both are the same)."""
    baseline = record.spec.baseline
    return [(arm.name, arm.same_as or baseline, bool(arm.same_as)) for arm in record.spec.arms if arm.name != baseline]


def _lifts(record: EvalRecord, outcomes: Mapping[Key, TrialOutcome], ask: LiftQuestion) -> list[Lift]:
    return [
        lift_of(
            paired(record, outcomes, arm, baseline, scorer.name),
            scorer.name,
            arm,
            baseline,
            ask,
            scorer.is_bounded,
            null,
        )
        for scorer in record.spec.scorers
        for arm, baseline, null in _opponents(record)
    ]


def _adjusted(lifts: list[Lift], level: float) -> list[Lift]:
    """A null arm is a check, not a hypothesis. Its own p decides, which is stricter."""
    adjusted = holm([None if lift.null else lift.p for lift in lifts])
    return [
        lift if lift.null else msgspec.structs.replace(lift, p_adjusted=p, verdict=verdict_of(lift.estimate, p, level))
        for lift, p in zip(lifts, adjusted, strict=True)
    ]
