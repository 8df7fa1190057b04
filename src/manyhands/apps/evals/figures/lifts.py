"""Compares one arm with another by one scorer: everything that can be said about the lift."""

from collections.abc import Sequence
from math import fsum
from zlib import crc32

from msgspec import Struct

from manyhands.apps.evals.figures.estimate import estimated, hedges_g, mean_of, sd_of
from manyhands.apps.evals.figures.figure_values import CaseLift, Estimate, Lift, LiftVerdict, Needed
from manyhands.apps.evals.figures.pairs import CasePairs, Pairing
from manyhands.apps.evals.figures.power import Design, design_of, detectable_lift, needed_for
from manyhands.apps.evals.figures.resampling import RESAMPLES, cluster_bootstrap, permutation_test, sign_test

#: The report says what it would take to see lifts of these sizes, for scores between 0 and 1.
ROUND_LIFTS = (0.05, 0.1, 0.2)
CLUSTERS_MIN = 10


class LiftQuestion(Struct, frozen=True):
    """How certain the answers should be, and how they are computed."""

    level: float = 0.95
    power: float = 0.8
    seed: int = 0
    resamples: int = RESAMPLES


def lift_of(
    pairing: Pairing, scorer: str, arm: str, baseline: str, ask: LiftQuestion, bounded: bool, null: bool = False
) -> Lift:
    if not pairing.cases:
        notes = ["no replication has a score in both arms"]
        return Lift(scorer, arm, baseline, "case", 0, pairing.left_out, null=null, notes=notes)
    cases = [_case_lift(case, ask.level) for case in pairing.cases]
    unit, differences, clusters = units_of(pairing.cases)
    estimate = estimated(differences, clusters, ask.level)
    seed = crc32(f"{ask.seed}/{scorer}/{arm}".encode())
    permutation = permutation_test(differences, clusters, seed, ask.resamples)
    p = estimate.p
    notes = [estimate.note] if estimate.note else []
    if permutation is not None and p is None:
        p = permutation.p
        notes.append("only the permutation test says whether there is a lift")
    elif permutation is not None and p is not None and p < 1 - ask.level <= permutation.p:
        notes.append("the t test sees a lift, but the permutation test, which assumes less and sees less, does not")
    if clusters is not None and estimate.interval is not None and len(set(clusters)) < CLUSTERS_MIN:
        notes.append(
            f"there are only {len(set(clusters))} clusters: the interval depends on their number, not on the cases"
        )
    if unit == "replication":
        what = "the interval" if estimate.interval is not None else "the lift"
        notes.append(f"with one case {what} is about this case only, not about similar cases")
    design = _design(pairing.cases, estimate, unit, ask.level)
    return Lift(
        scorer=scorer,
        arm=arm,
        baseline=baseline,
        unit=unit,
        pairs=pairing.pairs,
        left_out=pairing.left_out,
        baseline_mean=mean_of([case.baseline for case in cases]),
        arm_mean=mean_of([case.arm for case in cases]),
        estimate=estimate,
        bootstrap=cluster_bootstrap(differences, clusters, ask.level, seed, ask.resamples),
        sign=sign_test(differences, clusters),
        permutation=permutation,
        effect_size=hedges_g(differences),
        p=p,
        p_adjusted=p,
        verdict=verdict_of(estimate, p, ask.level),
        detectable=None if design is None else detectable_lift(design, ask.power),
        needed=_needed(design, unit, _asked(estimate, bounded), ask.power),
        cases=cases,
        null=null,
        notes=notes,
    )


def verdict_of(estimate: Estimate | None, p: float | None, level: float) -> LiftVerdict:
    if estimate is None or p is None:
        return LiftVerdict.UNKNOWN
    if p >= 1 - level or estimate.mean == 0:
        return LiftVerdict.UNDECIDED
    return LiftVerdict.BETTER if estimate.mean > 0 else LiftVerdict.WORSE


def _case_lift(case: CasePairs, level: float) -> CaseLift:
    differences = case.differences
    estimate = estimated(differences, None, level)
    return CaseLift(
        case.case,
        case.cluster,
        len(differences),
        mean_of(case.baseline),
        mean_of(case.arm),
        estimate.mean,
        estimate.sd,
        estimate.interval,
    )


def units_of(cases: Sequence[CasePairs]) -> tuple[str, list[float], list[str] | None]:
    """The unit of the differences, the differences, and their clusters."""
    if len(cases) == 1:
        return "replication", cases[0].differences, None
    differences = [mean_of(case.differences) for case in cases]
    if cases[0].cluster is None:
        return "case", differences, None
    return "cluster", differences, [case.cluster or case.case for case in cases]


def _design(cases: Sequence[CasePairs], estimate: Estimate, unit: str, level: float) -> Design | None:
    if estimate.sd is None or estimate.se is None or estimate.df is None:
        return None
    if unit == "replication":  # with one case each replication is a unit
        return Design(estimate.units, 1.0, estimate.sd**2, None, estimate.df, level=level)
    inflation = estimate.se**2 / (estimate.sd**2 / estimate.units)
    repeated = [case.differences for case in cases if len(case.arm) > 1]
    within = None
    if repeated:
        squares = [(sd_of(differences) or 0.0) ** 2 * (len(differences) - 1) for differences in repeated]
        within = fsum(squares) / sum(len(differences) - 1 for differences in repeated)
    usual = len(cases) / fsum(1 / len(case.arm) for case in cases)
    return design_of(estimate.sd, estimate.units, within, usual, estimate.df, inflation, level)


def _needed(design: Design | None, unit: str, lifts: Sequence[float], power: float) -> list[Needed]:
    if design is None:
        return []
    found = [needed_for(design, lift, power) for lift in lifts]
    if unit != "replication":
        return found
    return [Needed(one.lift, one.power_now, replications=one.cases, cases=None) for one in found]


def _asked(estimate: Estimate, bounded: bool) -> list[float]:
    seen = [abs(estimate.mean)] if estimate.mean else []
    return seen + (list(ROUND_LIFTS) if bounded else [])
