"""The report as JSON: every figure, every outcome, the actual order. It has no prompts and no environment."""

from typing import Any

import msgspec

from manyhands.apps.evals.figures.figure_values import Comparison
from manyhands.apps.evals.reports import words
from manyhands.apps.evals.spec.eval_types import EvalRecord


def as_json(record: EvalRecord, comparison: Comparison) -> str:
    return msgspec.json.format(msgspec.json.encode(document(record, comparison)), indent=2).decode() + "\n"


def document(record: EvalRecord, comparison: Comparison) -> dict[str, Any]:
    spec = record.spec
    return {
        "eval": {
            "id": record.id,
            "name": spec.name,
            "source": record.source,
            "state": record.state,
            "started_at": record.started_at,
            "ended_at": record.ended_at,
            "arms": [arm.name for arm in spec.arms],
            "cases": [case.name for case in spec.cases],
            "scorers": [scorer.name for scorer in spec.scorers],
            "replications": spec.replications,
            "sessions": spec.sessions,
            "seed": spec.seed,
            "interleaved": spec.interleave,
            "first_arm": spec.order,
            "went_first": {arm.name: words.first_arms(record)[arm.name] for arm in spec.arms},
        },
        "says": [words.headline(lift) for lift in comparison.lifts],
        "comparison": comparison,
        "concurrency": record.concurrency,
        "order": record.order,
        "outcomes": record.outcomes,
        "injections": len(record.injections),
    }
