"""Whether an eval may stop: confidence sequences over its cases, valid at every look. Off by default."""

from collections.abc import Mapping, Sequence
from math import fsum

from manyhands.apps.evals.figures.figure_values import Stop
from manyhands.apps.evals.figures.pairs import CasePairs, Key, by_key, paired
from manyhands.apps.evals.figures.sequence import confidence_sequence
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.errors import UsageError

LEVEL = 0.95


def decided(record: EvalRecord, level: float = LEVEL) -> bool:
    """Whether the cases that have ended decide every comparison, so that the rest need not run."""
    stops = stops_of(record, by_key(record.outcomes), level)
    return bool(stops) and all(stop.decided_after is not None for stop in stops)


def stops_of(record: EvalRecord, outcomes: Mapping[Key, TrialOutcome], level: float) -> list[Stop]:
    scorers = [scorer for scorer in record.spec.scorers if scorer.is_bounded]
    if not scorers:
        told = ", ".join(f"`{scorer.name}` ({scorer.type})" for scorer in record.spec.scorers)
        raise UsageError(
            f"these scorers have no lowest and highest score, so they have no confidence sequence: {told}",
            "`python`, `json` without `equals`, and `regex` with a group `score` may give any number",
        )
    baseline = record.spec.baseline
    arms = [arm.name for arm in record.spec.arms if arm.name != baseline and not arm.same_as]
    # Bonferroni: a sequence has no p-value for Holm to order.
    shared = 1 - (1 - level) / max(1, len(arms) * len(scorers))
    found = []
    for scorer in scorers:
        for arm in arms:
            over = _over(record, outcomes, (arm, baseline))
            pairing = paired(record, outcomes, arm, baseline, scorer.name)
            found.append(_stop([case for case in pairing.cases if case.case in over], scorer.name, arm, shared))
    return found


def _over(record: EvalRecord, outcomes: Mapping[Key, TrialOutcome], arms: Sequence[str]) -> set[str]:
    """The leading cases that have ended. A quick case does not overtake a slow one: otherwise the results would
    decide which cases count."""
    over: set[str] = set()
    for case in record.spec.cases:
        for arm in arms:
            for replication in range(1, record.spec.replications + 1):
                outcome = outcomes.get((arm, case.name, replication))
                if outcome is None or outcome.state in ("missing", "aborted"):
                    return over
        over.add(case.name)
    return over


def _stop(cases: Sequence[CasePairs], scorer: str, arm: str, level: float) -> Stop:
    """The differences of cases, or of the means of clusters, in the order of the spec."""
    groups: dict[str, list[float]] = {}
    for case in cases:
        differences = case.differences
        groups.setdefault(case.cluster or case.case, []).append(fsum(differences) / len(differences))
    low, high = confidence_sequence([fsum(group) / len(group) for group in groups.values()], (0.0, 1.0), level)
    first = next((n for n, ends in enumerate(zip(low, high, strict=True), 1) if ends[0] > 0 or ends[1] < 0), None)
    unit = "cluster" if cases and cases[0].cluster is not None else "case"
    return Stop(scorer, arm, level, low, high, first, unit)
