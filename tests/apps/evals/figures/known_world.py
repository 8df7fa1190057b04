"""Simulated evals whose truth is known, and small records made by hand."""

from collections.abc import Sequence

import numpy as np

from manyhands.apps.evals.spec.eval_types import (
    Arm,
    Case,
    Concurrency,
    EvalRecord,
    Scorer,
    SessionRecord,
    SessionStart,
    Spec,
    TrialOutcome,
)

Scores = Sequence[Sequence[float | None]]  # of an arm: [case][replication]


def a_record(
    scores: dict[str, Scores],
    clusters: Sequence[str] | None = None,
    scorer: Scorer | None = None,
    same_as: dict[str, str] | None = None,
    **of_spec: object,
) -> EvalRecord:
    """The first arm is the baseline. Cases are named c00, c01 …; trials took turns of a second."""
    scorer = scorer or Scorer("passed", "tests")
    first = next(iter(scores))
    names = [f"c{number:02d}" for number in range(len(scores[first]))]
    replications = len(scores[first][0])
    spec = Spec(
        name="known",
        arms=tuple(Arm(arm, run=("true",), same_as=(same_as or {}).get(arm, "")) for arm in scores),
        cases=tuple(Case(name, cluster=clusters[at] if clusters else "") for at, name in enumerate(names)),
        scorers=(scorer,),
        replications=replications,
        baseline=first,
        **of_spec,  # type: ignore[arg-type]
    )
    outcomes, order = [], []
    for place, arm in enumerate(scores):
        for at, name in enumerate(names):
            for turn, score in enumerate(scores[arm][at]):
                begun = 1000.0 + 2 * (at * replications + turn) + (place if turn % 2 == 0 else 1 - place)
                order.append(SessionStart(arm, name, turn + 1, 1, begun))
                outcomes.append(
                    TrialOutcome(
                        arm,
                        name,
                        turn + 1,
                        run=f"{arm}-{name}-{turn}",
                        state="scored",
                        cluster=clusters[at] if clusters else name,
                        scores={scorer.name: score},
                        sessions=(SessionRecord(1, "done", started_at=begun, ended_at=begun + 0.9, attempts=1),),
                        position=1 + (place + turn) % 2,
                        started_at=begun,
                        ended_at=begun + 0.9,
                        duration_s=0.9,
                    )
                )
    order.sort(key=lambda start: start.at)
    return EvalRecord(
        "known-1", spec, "known.toml", "finished", Concurrency(1, "default"), tuple(outcomes), tuple(order)
    )


def simulated(
    rng: np.random.Generator, lift: float, cases: int = 20, replications: int = 5, uneven: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:
    """Scores 0 or 1 of two arms, [case, replication]. A case's lift differs from the true one by up to `uneven`."""
    usual = rng.uniform(0.1 + uneven, 0.9 - uneven - lift, size=(cases, 1))
    better = usual + lift + rng.uniform(-uneven, uneven, size=(cases, 1))
    shape = (cases, replications)
    return (rng.random(shape) < usual).astype(float), (rng.random(shape) < better).astype(float)
