"""What is read from a file of another tool, and the record made from it. It is the same for every tool."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

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
    TrialState,
)
from manyhands.errors import UsageError


class FoundTrial(Struct, frozen=True):
    case: str
    replication: int
    scores: dict[str, float | None]
    score_errors: dict[str, str] = {}
    state: TrialState = "scored"
    ending: Literal["done", "failed", "timed_out"] = "done"
    detail: str = ""
    prompt: str = ""
    cluster: str = ""
    started_at: float | None = None
    ended_at: float | None = None
    duration_s: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    why_tainted: str = ""
    position: int = 0


class FoundArm(Struct, frozen=True):
    """`names` has possible names of the arm, the shortest first. The first unique one is used."""

    names: tuple[str, ...]
    trials: tuple[FoundTrial, ...]
    interleaved: bool = False
    concurrency: int = 1
    same_as: str = ""


def record_of(name: str, source: str, arms: Sequence[FoundArm], baseline: str, warnings: Sequence[str]) -> EvalRecord:
    named = dict(zip(_names(arms), arms, strict=True))
    if baseline and baseline not in named:
        raise UsageError(f"there is no arm `{baseline}` in {source}", f"arms: {', '.join(named)}")
    cases: dict[str, FoundTrial] = {}
    scorers: dict[str, None] = {}
    for arm in arms:
        for trial in arm.trials:
            cases.setdefault(trial.case, trial)
            scorers.update(dict.fromkeys(trial.scores))
    spec = Spec(
        name=name,
        # Without the arm that it repeats, a null arm is an ordinary arm.
        arms=tuple(Arm(arm, same_as=found.same_as if found.same_as in named else "") for arm, found in named.items()),
        cases=tuple(Case(case, prompt=trial.prompt, cluster=trial.cluster) for case, trial in cases.items()),
        scorers=tuple(Scorer(scorer, "python") for scorer in scorers),
        replications=max(trial.replication for arm in arms for trial in arm.trials),
        interleave=all(arm.interleaved for arm in arms),
        baseline=baseline or next(iter(named)),
    )
    outcomes = [outcome for arm, found in named.items() for outcome in _outcomes(arm, found, spec)]
    begun = [outcome.started_at for outcome in outcomes if outcome.started_at is not None]
    ended = [outcome.ended_at for outcome in outcomes if outcome.ended_at is not None]
    whole = all(outcome.state != "missing" for outcome in outcomes)
    return EvalRecord(
        id=name,
        spec=spec,
        source=source,
        state="finished" if whole else "aborted",
        concurrency=Concurrency(max(arm.concurrency for arm in arms), "spec"),
        outcomes=tuple(outcomes),
        order=tuple(sorted(_starts(outcomes), key=lambda start: start.at)),
        started_at=min(begun, default=0.0),
        ended_at=max(ended, default=0.0),
        warnings=tuple(warnings),
    )


def _names(arms: Sequence[FoundArm]) -> list[str]:
    for place in range(max(len(arm.names) for arm in arms)):
        names = [arm.names[min(place, len(arm.names) - 1)] for arm in arms]
        if len(set(names)) == len(names):
            return names
    raise UsageError(
        f"two of these files have the same arm: {', '.join(arm.names[-1] for arm in arms)}", "give each file once"
    )


def _outcomes(arm: str, found: FoundArm, spec: Spec) -> list[TrialOutcome]:
    trials = {(trial.case, trial.replication): trial for trial in found.trials}
    if len(trials) < len(found.trials):
        raise UsageError(f"arm `{arm}` has two results for one case and replication", "give each file once")
    outcomes = []
    for case in spec.cases:
        for replication in range(1, spec.replications + 1):
            trial = trials.get((case.name, replication))
            if trial is None:
                outcomes.append(
                    TrialOutcome(arm, case.name, replication, "", "missing", cluster=case.cluster or case.name)
                )
            else:
                outcomes.append(_outcome(arm, trial, case))
    return outcomes


def _outcome(arm: str, trial: FoundTrial, case: Case) -> TrialOutcome:
    session = SessionRecord(
        1,
        trial.ending,
        trial.detail,
        trial.started_at,
        trial.ended_at,
        attempts=1,
        tokens_in=trial.tokens_in,
        tokens_out=trial.tokens_out,
    )
    return TrialOutcome(
        arm=arm,
        case=trial.case,
        replication=trial.replication,
        run="",
        state=trial.state,
        cluster=case.cluster or case.name,
        scores=trial.scores if trial.state == "scored" else {},
        score_errors=trial.score_errors,
        sessions=(session,),
        timed_out=int(trial.ending == "timed_out"),
        position=trial.position,
        started_at=trial.started_at,
        ended_at=trial.ended_at,
        duration_s=trial.duration_s,
        tokens_in=trial.tokens_in,
        tokens_out=trial.tokens_out,
        cost=trial.cost,
        tainted=bool(trial.why_tainted),
        why_tainted=trial.why_tainted,
    )


def _starts(outcomes: Sequence[TrialOutcome]) -> list[SessionStart]:
    return [
        SessionStart(one.arm, one.case, one.replication, 1, one.started_at)
        for one in outcomes
        if one.started_at is not None
    ]
