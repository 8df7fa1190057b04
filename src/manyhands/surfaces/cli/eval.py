"""`manyhands eval SPEC`: runs an eval to its end, or until the user stops it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from manyhands.apps.evals.eval_hosts import check_against
from manyhands.apps.evals.evaluation import Wishes, evaluate, with_flags
from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.scoring.scorer_loading import check_functions
from manyhands.apps.evals.spec.eval_types import EvalRecord, Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.spec.spec_file import read_spec
from manyhands.apps.evals.trial.manifest import Scores
from manyhands.core.state import Record
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.redaction import secrets_of
from manyhands.errors import UsageError
from manyhands.install_hints import install_hint
from manyhands.surfaces.cli.eval_options import EvalRunOptions, ReportOutput
from manyhands.surfaces.cli.eval_report import print_report
from manyhands.surfaces.cli.interrupts import Interrupts
from manyhands.surfaces.cli.page_beside_run import page_beside, say_address, stay_until_key
from manyhands.surfaces.cli.printing import duration, put_lines, say
from manyhands.surfaces.cli.settings import Settings

#: Nobody reads more lines than this. Larger evals get a line every few seconds.
LINES_MAX = 1000
LINE_EVERY_S = 5.0


def run_eval(
    spec_file: Path,
    options: EvalRunOptions,
    output: ReportOutput,
    settings: Settings,
) -> int:
    wishes = Wishes(_concurrency(options.concurrency), options.fail_fast, options.fresh, options.allow_tampering)
    _check_libraries()
    config = settings.load()
    read = with_flags(read_spec(spec_file), not options.no_interleave, options.stop_when_decided)

    async def go() -> EvalRecord:
        interrupts = Interrupts()

        @asynccontextmanager
        async def page(dispatcher: Dispatcher, eval_id: str) -> AsyncIterator[None]:
            where, secrets = config.store_at, secrets_of(config)
            async with page_beside(dispatcher, config.store_directory, where, secrets) as offered:
                say_address(offered, view="evals")
                yield
                await stay_until_key(lambda: not interrupts.wanted)

        return await evaluate(read, config, wishes, interrupts, EvalLines(read.spec), page if options.follow else None)

    record = asyncio.run(go())
    _print(record, output)
    return _exit_code(record)


def _concurrency(text: str | None) -> int | Literal["auto"] | None:
    if text is None or text == "auto":
        return "auto" if text else None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"`--concurrency` must be at least 1, or auto, got {text}", "leave it out to run one at a time"
        )
    return int(text)


def _check_libraries() -> None:
    """Checked now, because the figures that need them come hours later."""
    if find_spec("scipy") is None:
        raise UsageError("the report of an eval needs scipy", f"install it with `{install_hint('evals')}`")


def _print(record: EvalRecord, output: ReportOutput) -> None:
    if record.state != "stopped":
        print_report(record, output)
    scored = sum(outcome.state == "scored" for outcome in record.outcomes)
    took = duration(record.ended_at - record.started_at)
    say(f"eval {record.id}: {record.state} · {scored} of {len(record.outcomes)} trials scored · {took}")
    if record.state == "stopped":
        say("the same command continues from here")


def _exit_code(record: EvalRecord) -> int:
    """An arm that fails is a result. A trial without a result is a failure of the eval."""
    if record.state == "stopped":
        return 75
    given = {"scored", "missing"} if record.state == "decided" else {"scored"}
    whole = all(outcome.state in given and not outcome.score_errors for outcome in record.outcomes)
    return 0 if record.state in ("finished", "decided") and whole else 1


def check_eval(spec_file: Path, settings: Settings) -> None:
    config = settings.load()
    read = read_spec(spec_file)
    check_against(read, config)
    check_functions(read, config.workspace)
    spec = read.spec
    trials = len(spec.arms) * len(spec.cases) * spec.replications
    put_lines(
        [
            f"arms      {', '.join(arm.name for arm in spec.arms)} (baseline {spec.baseline})",
            f"cases     {len(spec.cases)}",
            f"scorers   {', '.join(f'{scorer.name} ({scorer.type})' for scorer in spec.scorers)}",
            f"trials    {trials} ({spec.replications} replications), {trials * spec.sessions} sessions",
            f"order     {spec.order if spec.interleave else 'one arm after the other'}, seed {spec.seed}",
        ]
    )


class EvalLines:
    """Prints a line for every session that ends, or one every few seconds if those would be too many."""

    def __init__(self, spec: Spec) -> None:
        self._sessions = len(spec.arms) * len(spec.cases) * spec.replications * spec.sessions
        self._ended = 0
        self._said_at = 0.0

    def begins(self, over: int) -> None:
        self._ended = over
        if over:
            say(f"the eval continues: {over} of {self._sessions} sessions were finished")

    def ended(self, turn: SessionTurn, record: Record) -> None:
        self._ended += 1
        last = record.history[-1] if record.history else None
        at = last.ended_at if last is not None and last.ended_at is not None else 0.0
        if self._sessions > LINES_MAX and at - self._said_at < LINE_EVERY_S:
            return
        self._said_at = at
        took = duration(at - last.started_at) if last is not None else ""
        trial = turn.trial
        place = f"{trial.arm} · {trial.case} · {trial.replication}"
        place += f" · session {turn.session}" if turn.session > 1 else ""
        detail = record.cause.why
        say(f"{self._ended:>5} of {self._sessions}  {record.state:<9} {place}  {took}  {detail}".rstrip())

    def marked(self, trial: Trial, scores: Scores) -> None:
        for scorer, why in scores.errors.items():
            say(f"scorer {scorer} gave no score for {trial.arm} · {trial.case} · {trial.replication}: {why}")

    def says(self, text: str) -> None:
        say(text)
