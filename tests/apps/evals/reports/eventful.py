"""The record of an eval in which much happened: clusters, a null arm, trouble, taint, broken scorers, four at once."""

import numpy as np

from manyhands.apps.evals.spec.eval_types import (
    Arm,
    Calibration,
    Case,
    Concurrency,
    EvalRecord,
    Injection,
    Prices,
    Scorer,
    SessionRecord,
    SessionStart,
    Spec,
    TrialOutcome,
    Troubles,
)

ARMS = ("plain", "careful", "plain-again")
LIFT = {"plain": 0.0, "careful": 0.3, "plain-again": 0.0}


def eventful(cases: int = 16, replications: int = 5, interleave: bool = True, seed: int = 7) -> EvalRecord:
    rng = np.random.default_rng(seed)
    names = [f"{'parse' if at % 2 else 'refactor'}-{at:02d}" for at in range(cases)]
    spec = Spec(
        name="retry prompt",
        arms=tuple(
            Arm(arm, run=("agent",), prices=Prices(1.0, 5.0), same_as="plain" if arm == "plain-again" else "")
            for arm in ARMS
        ),
        cases=tuple(Case(name, cluster=f"repo-{at // 2}") for at, name in enumerate(names)),
        scorers=(Scorer("tests", "tests"), Scorer("lines", "python", call="scoring:lines")),
        replications=replications,
        seed=seed,
        interleave=interleave,
        baseline="plain",
    )
    usual = rng.uniform(0.1, 0.6, cases)
    outcomes: list[TrialOutcome] = []
    starts: list[SessionStart] = []
    free = [0.0] * 4
    trials = [(at, turn) for turn in range(replications) for at in range(cases)]
    planned = [
        (arm, at, turn, place) for at, turn in trials for place, arm in enumerate(rng.permutation(ARMS).tolist(), 1)
    ]
    if not interleave:
        planned.sort(key=lambda trial: ARMS.index(trial[0]))
    for arm, at, turn, place in planned:
        slot = int(np.argmin(free))
        begun = 1_760_000_000.0 + free[slot]
        took = float(rng.gamma(6, 1.2 if arm == "careful" else 0.9))
        free[slot] += took
        score = float(rng.random() < usual[at] + LIFT[arm])
        tokens_in, tokens_out = int(rng.integers(800, 2000)), int(rng.integers(200, 900 if arm == "careful" else 500))
        limited = int(arm == "careful" and at == 3)
        tainted = arm == "careful" and at == 5 and turn == 1
        broken = arm == "plain" and at == 9 and turn == 2
        lost = arm == "plain-again" and at == 11 and turn == 0
        late = arm == "careful" and at == 7 and turn == 3
        ending = "timed_out" if late else "lost" if lost else "done"
        session = SessionRecord(1, ending, "", begun, begun + took, "local", 1 + limited, tokens_in, tokens_out)
        lines: float | None = None if broken else float(rng.integers(20, 90) + (8 if arm == "careful" else 0))
        outcomes.append(
            TrialOutcome(
                arm,
                names[at],
                turn + 1,
                run=f"e/{arm}/{names[at]}/{turn + 1}",
                state="infrastructure" if lost else "scored",
                cluster=f"repo-{at // 2}",
                scores={} if lost else {"tests": 0.0 if late else score, "lines": lines},
                score_errors={"lines": "FileNotFoundError: answer.py"} if broken else {},
                sessions=(session,),
                troubles=Troubles(rate_limited=limited, lost=int(lost)),
                timed_out=int(late),
                position=place,
                started_at=begun,
                ended_at=begun + took,
                duration_s=took,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=(tokens_in + 5 * tokens_out) / 1e6,
                tainted=tainted,
                why_tainted="context was injected at 12:04" if tainted else "",
            )
        )
        starts.append(SessionStart(arm, names[at], turn + 1, 1, begun))
    steps = (
        Calibration(1, 6, 6.1, 1.0, 0.0, 0, True),
        Calibration(2, 6, 6.2, 1.02, 0.0, 0, True),
        Calibration(4, 8, 6.5, 1.07, 0.0, 0, True),
        Calibration(8, 16, 9.8, 1.61, 0.0, 2, False, "p95 is 1.61 × that of one at a time"),
    )
    outcomes.sort(key=lambda one: (ARMS.index(one.arm), one.case, one.replication))
    return EvalRecord(
        "retry-prompt-1",
        spec,
        "retry.toml",
        "finished",
        Concurrency(4, "auto", steps),
        tuple(outcomes),
        tuple(sorted(starts, key=lambda start: start.at)),
        started_at=1_760_000_000.0,
        ended_at=1_760_000_000.0 + max(free),
        injections=(Injection("look at line 3", 1_760_000_100.0, arm="careful", replication=2),),
    )
