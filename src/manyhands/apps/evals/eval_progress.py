"""How far an eval is: what every trial has scored so far, and how the intervals of its lifts have narrowed."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from manyhands.apps.evals.figures.estimate import estimated
from manyhands.apps.evals.figures.lifts import units_of
from manyhands.apps.evals.figures.pairs import by_key, paired
from manyhands.apps.evals.spec.eval_types import EvalRecord, TrialOutcome
from manyhands.apps.evals.spec.ordering import trials_of
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole
from manyhands.apps.evals.trial.eval_notes import standing_of
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.outcomes import record_of
from manyhands.core.book import Book
from manyhands.errors import Conflict, UnknownRun

LEVEL = 0.95
#: As many points as a line of a few hundred pixels can show.
POINTS_MAX = 30


class TrialProgress(Struct):
    arm: str
    case: str
    replication: int
    run: str  # its run in the store
    state: str
    scores: dict[str, float | None]


class LiftPoint(Struct):
    scored: int  # trials that had a score by then
    mean: float
    low: float | None  # None: too few for an interval
    high: float | None


class LiftProgress(Struct):
    scorer: str
    arm: str
    baseline: str
    points: list[LiftPoint]


class EvalProgress(Struct):
    eval: str
    evals: list[str]  # all of the store, the newest last
    is_over: bool
    baseline: str
    arms: list[str]
    cases: list[str]
    scorers: list[str]
    trials: list[TrialProgress]
    lifts: list[LiftProgress]


def progress_of(store: Path, book: Book, eval_id: str, evals: Sequence[str], now: float) -> EvalProgress:
    layout = EvalLayout(store, eval_id)
    manifest = read_whole(layout.manifest, Manifest)
    if manifest is None:
        raise UnknownRun(f"the files of eval `{eval_id}` are gone", f"they were in {layout.directory}")
    if manifest.concurrency is None:
        raise Conflict(f"eval {eval_id} is still finding out how many sessions may run at once", "look again soon")
    spec = manifest.spec
    scores = {trial: found for trial in trials_of(spec) if (found := read_whole(layout.scores(trial), Scores))}
    record = record_of(manifest, book, scores, "stopped", now, ())
    standing = standing_of(book.runs[eval_id])
    return EvalProgress(
        eval=eval_id,
        evals=list(evals),
        is_over=standing.aborted or standing.ended is not None,
        baseline=spec.baseline,
        arms=[arm.name for arm in spec.arms],
        cases=[case.name for case in spec.cases],
        scorers=[scorer.name for scorer in spec.scorers],
        trials=[TrialProgress(*one.key, one.run, str(one.state), one.scores) for one in record.outcomes],
        lifts=[
            LiftProgress(scorer.name, arm.name, spec.baseline, _narrowing(record, arm.name, scorer.name))
            for scorer in spec.scorers
            for arm in spec.arms
            if arm.name != spec.baseline
        ],
    )


def _narrowing(record: EvalRecord, arm: str, scorer: str) -> list[LiftPoint]:
    """The lift as it was known after each of some of the trials, in the order in which they ended."""
    scored = sorted((one for one in record.outcomes if one.scores), key=lambda one: (one.ended_at or 0.0, one.key))
    step = max(1, len(scored) // POINTS_MAX)
    ends = range(len(scored) % step or step, len(scored) + 1, step)
    points = [_point(record, scored[:end], arm, scorer) for end in ends]
    return [point for point in points if point is not None]


def _point(record: EvalRecord, known: Sequence[TrialOutcome], arm: str, scorer: str) -> LiftPoint | None:
    pairing = paired(record, by_key(known), arm, record.spec.baseline, scorer)
    if not pairing.cases:
        return None
    _, differences, clusters = units_of(pairing.cases)
    estimate = estimated(differences, clusters, LEVEL)
    interval = estimate.interval
    return LiftPoint(len(known), estimate.mean, interval.low if interval else None, interval.high if interval else None)
