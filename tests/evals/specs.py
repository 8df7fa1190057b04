"""Builders of specs and records for tests of evals, and an eval as a real process."""

import json
from pathlib import Path
from typing import Any

import msgspec

from cli.console import Console
from manyhands.evals.model import Arm, Case, EvalRecord, Scorer, Spec

#: An agent that leaves more the longer it is let: a session cut short and begun anew on what it left would show.
AGENT = (
    "echo begun >> log.txt; "
    "sleep {nap}; "
    "seed=$MANYHANDS_SEED; "
    "echo $((seed % 10 + {lift})) >> answer.txt; "
    'echo "$MANYHANDS_PROMPT" >> prompts.txt; '
    "echo ended >> log.txt"
)
#: The sum of what the sessions wrote; what a session that did not start afresh left over would be counted too.
SCORE = "import pathlib; print('total', sum(int(n) for n in pathlib.Path('answer.txt').read_text().split()))"


def a_spec(arms: int = 2, cases: int = 3, replications: int = 4, **fields: Any) -> Spec:
    names = [chr(ord("a") + n) for n in range(arms)]
    return Spec(
        name="e",
        arms=tuple(Arm(name, run=("true",)) for name in names),
        cases=tuple(Case(f"c{n}", prompt="do it") for n in range(cases)),
        scorers=(Scorer("done", "done"),),
        replications=replications,
        baseline=names[0],
        **fields,
    )


def written(
    console: Console, *, nap: float = 0.0, cases: int = 2, scorers: str = "", name: str = "spec.toml", **settings: Any
) -> None:
    """A spec of two arms, `a` and `b`, whose agents do as `AGENT` says; `b` is better by 3."""
    lines = ["[eval]", *(f"{field} = {json.dumps(value)}" for field, value in {"name": "e", **settings}.items())]
    for arm, lift in (("a", 0), ("b", 3)):
        command = AGENT.replace("{nap}", str(nap)).replace("{lift}", str(lift))
        lines += ["[[arm]]", f'name = "{arm}"', f"run = {json.dumps(['sh', '-c', command])}"]
    for n in range(cases):
        lines += ["[[case]]", f'name = "c{n}"', f'prompt = "do {n}"']
    lines.append(
        scorers or '[[scorer]]\nname = "answer"\ntype = "regex"\nfile = "answer.txt"\npattern = "(?P<score>[0-9]+)"'
    )
    console.write(name, "\n".join(lines) + "\n")


def record_of(console: Console, eval_id: str = "e-1") -> EvalRecord:
    file = console.store / "evals" / eval_id / "record.json"
    return msgspec.json.decode(file.read_bytes(), type=EvalRecord)


def results(record: EvalRecord) -> dict[tuple[str, str, int], object]:
    """What an eval found, without when and after how many interruptions."""
    return {
        outcome.key: (
            outcome.state,
            outcome.scores,
            outcome.score_errors,
            [(session.session, session.ending) for session in outcome.sessions],
            outcome.tainted,
        )
        for outcome in record.outcomes
    }


def workspace(console: Console, arm: str, case: str, replication: int, eval_id: str = "e-1") -> Path:
    return console.store / "evals" / eval_id / "trials" / arm / case / str(replication) / "workspace"
