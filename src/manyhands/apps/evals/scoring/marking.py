"""Scores the trials of one (case, replication): by reading files, by a task on the engine, or by a judge."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from manyhands.apps.evals.scoring import scoring_tasks
from manyhands.apps.evals.scoring.artefacts import LOOKS, Artefacts, TrialScore, look, read_text, text_for
from manyhands.apps.evals.scoring.pairwise import grading_prompt
from manyhands.apps.evals.spec.eval_types import Scorer, Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_layout import EvalLayout, write_whole
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.outcomes import ended_well, session_of
from manyhands.apps.evals.trial.trials import case_prompt, run_name
from manyhands.core.state import Record, Run
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task
from manyhands.engine.run_opening import attempt_directory
from manyhands.readers.plain_file import is_plain

#: Runs a task in a run of the store until it ends. It waits for a free place first.
Carry = Callable[[str, Task], Awaitable[Record]]
RunOf = Callable[[str], Run | None]
#: The file with the output of a command, and those with the answer of a function or a model.
_LOG, _RESULTS = "output.log", ("result.txt", "result.json")


class Marking:
    def __init__(self, manifest: Manifest, layout: EvalLayout, store: Path, run_of: RunOf, carry: Carry) -> None:
        self._manifest = manifest
        self._spec: Spec = manifest.spec
        self._layout = layout
        self._store = store
        self._run_of = run_of
        self._carry = carry

    async def mark(self, trials: Sequence[Trial]) -> dict[Trial, Scores]:
        """The scores of these trials. They are in files when this returns."""
        left = {trial: await asyncio.to_thread(self._artefacts, trial) for trial in trials}
        found: dict[Trial, dict[str, TrialScore]] = {trial: {} for trial in trials}
        for scorer in self._spec.scorers:
            if scorer.type == "pairwise":
                graded = await self._grade(scorer, left)
                for trial in trials:
                    found[trial][scorer.name] = graded[trial]
            else:
                scored = await asyncio.gather(*(self._score(scorer, trial, left[trial]) for trial in trials))
                for trial, score in zip(trials, scored, strict=True):
                    found[trial][scorer.name] = score
        marked = {trial: _kept(scores) for trial, scores in found.items()}
        for trial, scores in marked.items():
            # Not synced, because that would delay the journal. Scores lost in a power cut are made again.
            await asyncio.to_thread(write_whole, self._layout.scores(trial), scores, durable=False)
        return marked

    async def _score(self, scorer: Scorer, trial: Trial, left: Artefacts) -> TrialScore:
        try:
            if scorer.type in LOOKS:
                return await asyncio.to_thread(look, scorer, left)
            return await self._run(scorer, trial, left)
        except Exception as error:  # the only boundary: whatever breaks in a scorer costs that score alone
            return TrialScore(None, f"{type(error).__name__}: {error}")

    async def _run(self, scorer: Scorer, trial: Trial, left: Artefacts) -> TrialScore:
        name = run_name(self._manifest.id, trial)
        if scorer.type == "python":
            record = await self._carry(name, scoring_tasks.function_task(scorer, left))
            return scoring_tasks.function_score(_ending(record))
        known = self._run_of(name)
        if scorer.file and (known is None or scoring_tasks.task_id(scorer) not in known.records):
            await asyncio.to_thread(
                (left.workspace / scorer.file).unlink, missing_ok=True
            )  # a file that the arm wrote proves nothing
        record = await self._carry(name, scoring_tasks.command_task(scorer, left))
        ending = _ending(record)
        if scorer.type == "command":
            return scoring_tasks.command_score(ending)
        log = Path(attempt_directory(self._store, name, record.task.id, len(record.history or ()))) / _LOG
        return await asyncio.to_thread(scoring_tasks.tests_score, scorer, ending, left, log)

    async def _grade(self, scorer: Scorer, left: dict[Trial, Artefacts]) -> dict[Trial, TrialScore]:
        """Compares each arm with the baseline. The baseline has 0.5, like an arm that is equally good."""
        baseline = next((trial for trial in left if trial.arm == self._spec.baseline), None)
        scores: dict[Trial, TrialScore] = {}
        for trial in left:
            if trial == baseline:
                scores[trial] = TrialScore(0.5)
            elif baseline is None:
                scores[trial] = TrialScore(None, "the baseline has no answer to compare with")
            else:
                scores[trial] = await self._compare(scorer, trial, left[trial], left[baseline])
        return scores

    async def _compare(self, scorer: Scorer, trial: Trial, mine: Artefacts, theirs: Artefacts) -> TrialScore:
        try:
            ours, other = text_for(scorer, mine), text_for(scorer, theirs)
            asked = case_prompt(mine.case, self._spec.sessions)  # without the prompt of the arm around it
            name = run_name(self._manifest.id, trial)
            endings: dict[int, Ending] = {}
            for place, answers in ((1, (ours, other)), (2, (other, ours))):
                prompt = grading_prompt(scorer.question, asked, *answers)
                record = await self._carry(name, scoring_tasks.grading_task(scorer, prompt, place))
                endings[place] = _ending(record)
            return scoring_tasks.grading_score(endings)
        except Exception as error:  # as above
            return TrialScore(None, f"{type(error).__name__}: {error}")

    def _artefacts(self, trial: Trial) -> Artefacts:
        run = self._run_of(run_name(self._manifest.id, trial))
        records = [session_of(run, session) for session in range(1, self._spec.sessions + 1)]
        begun = [record for record in records if record is not None and record.history]
        return Artefacts(
            workspace=self._layout.workspace(trial),
            output=self._output(begun[-1]) if begun else "",
            case=self._spec.case(trial.case),
            done=all(ended_well(record) for record in records),
        )

    def _output(self, record: Record) -> str:
        """What a command printed, a function returned or a model answered."""
        place = Path(attempt_directory(self._store, record.run, record.task.id, len(record.history or ())))
        for name in (_LOG,) if record.task.run else _RESULTS:
            if is_plain(place / name):
                return read_text(place / name)
        ending = record.last_ending
        return ending.result if ending is not None else ""


def _ending(record: Record) -> Ending:
    """A task that was cancelled before it began has no ending of its own."""
    return record.last_ending or Ending(EndingKind.CANCELLED, record.cause.why)


def _kept(scores: dict[str, TrialScore]) -> Scores:
    return Scores(
        {name: score.value for name, score in scores.items()},
        {name: score.error for name, score in scores.items() if score.error},
    )
