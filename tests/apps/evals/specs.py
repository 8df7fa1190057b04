"""Builders of specs and records for tests of evals, and an eval as a real process."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from manyhands.apps.evals.evaluation import Wishes, evaluate, with_flags
from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.spec.eval_types import Arm, Case, EvalRecord, Scorer, Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.spec.spec_file import read_spec
from manyhands.apps.evals.trial.manifest import Scores
from manyhands.core.events import Input
from manyhands.core.state import Record
from manyhands.engine.dispatcher import Dispatcher
from manyhands.sources.config.config_reading import load_config
from surfaces.cli.console import Console

#: An agent that leaves more the longer it is let: a session cut short and begun anew on what it left would show.
AGENT = (
    "echo begun >> log.txt; "
    "{waits}; "
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
    console: Console,
    *,
    nap: float = 0.0,
    held: bool = False,
    cases: int = 2,
    scorers: str = "",
    name: str = "spec.toml",
    **settings: Any,
) -> None:
    """A spec of two arms, `a` and `b`, whose agents do as `AGENT` says; `b` is better by 3.

    Held, they wait until there is a file named like their replication beside the spec: see `let_go` and `waits_held`.
    """
    gate, waiting = (f"{console.directory}/{word}-$MANYHANDS_REPLICATION" for word in ("go", "waits"))
    waits = f"sleep {nap}" + (f"; : > {waiting}; until test -e {gate}; do sleep 0.1; done" if held else "")
    lines = ["[eval]", *(f"{field} = {json.dumps(value)}" for field, value in {"name": "e", **settings}.items())]
    for arm, lift in (("a", 0), ("b", 3)):
        command = AGENT.replace("{waits}", waits).replace("{lift}", str(lift))
        lines += ["[[arm]]", f'name = "{arm}"', f"run = {json.dumps(['sh', '-c', command])}"]
    for n in range(cases):
        lines += ["[[case]]", f'name = "c{n}"', f'prompt = "do {n}"']
    lines.append(
        scorers or '[[scorer]]\nname = "answer"\ntype = "regex"\nfile = "answer.txt"\npattern = "(?P<score>[0-9]+)"'
    )
    console.write(name, "\n".join(lines) + "\n")


def let_go(console: Console, *replications: int) -> None:
    for replication in replications:
        console.write(f"go-{replication}", "")


def waits_held(console: Console, replication: int) -> Path:
    """The file that a held agent of that replication writes when it begins to wait."""
    return console.directory / f"waits-{replication}"


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


class Nobody:
    """No one at the keyboard, and one who keeps what was said."""

    wanted = 0

    def __init__(self) -> None:
        self.said: list[str] = []

    def watch_over(self, dispatcher: Dispatcher, run: str) -> Sequence[Input]:
        return ()

    def begins(self, over: int) -> None: ...

    def ended(self, turn: SessionTurn, record: Record) -> None:
        self.said.append(f"{turn.trial.arm} {turn.trial.case} {turn.trial.replication} {record.state}")

    def marked(self, trial: Trial, scores: Scores) -> None: ...

    def says(self, text: str) -> None:
        self.said.append(text)


async def evaluated(
    console: Console, name: str = "spec.toml", interleave: bool = True, nobody: Nobody | None = None, **wishes: Any
) -> EvalRecord:
    """The eval of this spec to its end, in this process: a command that ends with a report takes 2 s of a core."""
    read = with_flags(read_spec(console.directory / name), interleave)
    nobody = nobody or Nobody()
    return await evaluate(read, load_config(console.directory), Wishes(**wishes), nobody, nobody)
