"""Which outcomes may be compared: a replication counts in both arms or in neither."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from manyhands.apps.evals.figures.figure_values import LeftOut
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.errors import UsageError

Key = tuple[str, str, int]
#: Squares of larger scores overflow, and no scorer means them.
SCORE_MAX = 1e100


class CasePairs(Struct, frozen=True):
    """The replications of one case that have a score in both arms, in the order of their numbers."""

    case: str
    cluster: str | None  # None: the eval has no clusters
    baseline: list[float]
    arm: list[float]

    @property
    def differences(self) -> list[float]:
        return [after - before for before, after in zip(self.baseline, self.arm, strict=True)]


class Pairing(Struct, frozen=True):
    cases: list[CasePairs]  # with at least one pair
    left_out: LeftOut

    @property
    def pairs(self) -> int:
        return sum(len(case.arm) for case in self.cases)


def by_key(outcomes: Iterable[TrialOutcome]) -> dict[Key, TrialOutcome]:
    """Sorted, so that no later step depends on which outcome came first."""
    found: dict[Key, TrialOutcome] = {}
    for outcome in outcomes:
        if outcome.key in found:
            raise UsageError(
                f"arm `{outcome.arm}` has two outcomes for replication {outcome.replication} of case `{outcome.case}`",
                "remove one of the two: counted twice, it would look like more evidence",
            )
        found[outcome.key] = outcome
    return dict(sorted(found.items()))


def clusters_of(outcomes: Mapping[Key, TrialOutcome]) -> dict[str, str] | None:
    """case → cluster; None if no two cases share a cluster."""
    clusters = {outcome.case: outcome.cluster or outcome.case for outcome in outcomes.values()}
    return clusters if len(set(clusters.values())) < len(clusters) else None


def why_left_out(outcome: TrialOutcome | None, scorer: str) -> str | None:
    """Why the outcome does not count; None if it does."""
    if outcome is None:
        return "missing"
    if outcome.tainted:
        return "tainted"
    if outcome.state == "infrastructure":
        return "infrastructure"
    if outcome.state != "scored":
        return "missing"
    if scorer in outcome.score_errors:
        return "scorer_error"
    score = outcome.scores.get(scorer)
    if score is None:
        return "not_applicable"
    return None if abs(score) <= SCORE_MAX else "scorer_error"  # so is nan


def paired(record: EvalRecord, outcomes: Mapping[Key, TrialOutcome], arm: str, baseline: str, scorer: str) -> Pairing:
    clusters = clusters_of(outcomes)
    left_out: dict[str, int] = {}
    cases: list[CasePairs] = []
    for case in record.spec.cases:
        before: list[float] = []
        after: list[float] = []
        for replication in range(1, record.spec.replications + 1):
            pair = [outcomes.get((name, case.name, replication)) for name in (baseline, arm)]
            if reason := _first_reason([why_left_out(outcome, scorer) for outcome in pair]):
                left_out[reason] = left_out.get(reason, 0) + 1
                continue
            for outcome, scores in zip(pair, (before, after), strict=True):
                assert outcome is not None
                score = outcome.scores[scorer]
                assert score is not None
                scores.append(score)
        if after:
            cases.append(CasePairs(case.name, clusters[case.name] if clusters else None, before, after))
    return Pairing(cases, LeftOut(**left_out))


def _first_reason(reasons: Sequence[str | None]) -> str | None:
    there = [reason for reason in LeftOut.__struct_fields__ if reason in reasons]
    return there[0] if there else None
