"""Figures of each arm by itself: endings, trouble, tokens, cost, scores."""

from collections.abc import Sequence
from math import fsum

import msgspec

from manyhands.apps.evals.figures.estimate import mean_of, sd_of
from manyhands.apps.evals.figures.figure_values import ArmFigures, Scored, Spread
from manyhands.apps.evals.figures.pairs import why_left_out
from manyhands.apps.evals.spec.eval_types import TrialOutcome
from manyhands.core.values.ending import total_cost
from manyhands.quantiles import quantile


def spread_of(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    ordered = sorted(values)
    total = fsum(ordered)
    return Spread(len(ordered), total, total / len(ordered), quantile(ordered, 0.5), quantile(ordered, 0.95))


def arm_figures(arm: str, planned: int, outcomes: Sequence[TrialOutcome], scorers: Sequence[str]) -> ArmFigures:
    """`outcomes` are the outcomes of this arm in the order of their keys."""
    finished = [outcome for outcome in outcomes if outcome.state in ("scored", "infrastructure")]
    clean = [outcome for outcome in finished if outcome.state == "scored" and not outcome.tainted]
    trouble: dict[str, int] = {}
    for outcome in outcomes:
        for name, count in msgspec.structs.asdict(outcome.troubles).items():
            trouble[name] = trouble.get(name, 0) + count
    return ArmFigures(
        arm=arm,
        planned=planned,
        finished=len(finished),
        tainted=sum(outcome.tainted for outcome in outcomes),
        lost_to_infrastructure=sum(outcome.state == "infrastructure" for outcome in finished),
        timed_out=sum(outcome.timed_out for outcome in outcomes),
        failed=sum(any(session.ending == "failed" for session in outcome.sessions) for outcome in clean),
        scorer_errors=sum(
            why_left_out(outcome, scorer) == "scorer_error" for outcome in outcomes for scorer in scorers
        ),
        attempts=sum(session.attempts for outcome in outcomes for session in outcome.sessions),
        trouble=trouble,
        scored=[_scored(scorer, outcomes) for scorer in scorers],
        seconds=spread_of([outcome.duration_s for outcome in clean]),
        tokens_in=sum(outcome.tokens_in for outcome in outcomes),
        tokens_out=sum(outcome.tokens_out for outcome in outcomes),
        cost=total_cost(outcome.cost for outcome in outcomes),
    )


def _scored(scorer: str, outcomes: Sequence[TrialOutcome]) -> Scored:
    values = [
        score
        for outcome in outcomes
        if why_left_out(outcome, scorer) is None and (score := outcome.scores[scorer]) is not None
    ]
    return Scored(scorer, len(values), mean_of(values) if values else None, sd_of(values), sorted(values))
