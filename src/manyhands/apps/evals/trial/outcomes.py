"""Finds out what became of every trial, from the journal and the scores on disk, after any number of crashes."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from manyhands.apps.evals.spec.eval_types import (
    Arm,
    EvalRecord,
    EvalState,
    SessionEnd,
    SessionRecord,
    SessionStart,
    Spec,
    TrialOutcome,
    TrialState,
    Troubles,
)
from manyhands.apps.evals.spec.ordering import Trial, trials_of
from manyhands.apps.evals.trial.eval_notes import standing_of
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.trial_state import trial_state
from manyhands.apps.evals.trial.trials import run_name, session_id
from manyhands.core.book import Book
from manyhands.core.state import AttemptRecord, Record, Run
from manyhands.core.values.ending import Ending, EndingKind, total_cost
from manyhands.core.values.provenance import Origin
from manyhands.core.values.task import TERMINAL, TaskState


def session_of(run: Run | None, session: int) -> Record | None:
    return run.records.get(session_id(session)) if run is not None else None


def is_over(record: Record | None) -> bool:
    return record is not None and record.state in TERMINAL


def ended_well(record: Record | None) -> bool:
    return record is not None and record.state is TaskState.DONE


def end_of(record: Record | None) -> SessionEnd | None:
    """How a session ended for its eval; None if it has not."""
    if record is None or record.state not in TERMINAL:
        return None
    if record.state is TaskState.DONE:
        return "done"
    if record.state is TaskState.CANCELLED:
        return "aborted"
    ending = record.last_ending
    return "infrastructure" if ending is not None and _trouble(ending) else "failed"


def state_of(run: Run | None, sessions: int) -> TrialState:
    return trial_state([end_of(session_of(run, session)) for session in range(1, sessions + 1)])


def outcome_of(
    trial: Trial, run: Run | None, name: str, spec: Spec, scores: Scores | None, position: int
) -> TrialOutcome:
    records = [session_of(run, session) for session in range(1, spec.sessions + 1)]
    known = [(number, record) for number, record in enumerate(records, 1) if record is not None]
    sessions = tuple(_session(number, record) for number, record in known)
    state = state_of(run, spec.sessions)
    if state == "scored" and scores is None:
        state = "missing"
    tokens_in = sum(session.tokens_in for session in sessions)
    tokens_out = sum(session.tokens_out for session in sessions)
    starts = [session.started_at for session in sessions if session.started_at is not None]
    ends = [session.ended_at for session in sessions if session.ended_at is not None]
    tainted = any(record.origin is Origin.TOUCHED_SESSION for _, record in known)
    return TrialOutcome(
        arm=trial.arm,
        case=trial.case,
        replication=trial.replication,
        run=name,
        state=state,
        cluster=spec.case(trial.case).cluster or trial.case,
        scores=scores.scores if scores is not None and state == "scored" else {},
        score_errors=scores.errors if scores is not None and state == "scored" else {},
        sessions=sessions,
        troubles=_troubles(record for _, record in known),
        timed_out=sum(session.ending == EndingKind.TIMED_OUT for session in sessions),
        position=position,
        started_at=min(starts, default=None),
        ended_at=max(ends, default=None),
        duration_s=sum((s.ended_at or 0.0) - s.started_at for s in sessions if s.started_at and s.ended_at),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=_cost(spec.arm(trial.arm), sessions),
        tainted=tainted,
        why_tainted="a person put context into it" if tainted else "",
    )


def _session(number: int, record: Record) -> SessionRecord:
    history = record.history or []
    endings = [tried.ending for tried in history if tried.ending is not None]
    last: AttemptRecord | None = history[-1] if history else None
    ending = last.ending if last is not None else None
    said = str(ending.kind) if ending is not None and record.state is not TaskState.SKIPPED else str(record.state)
    return SessionRecord(
        session=number,
        ending=said,
        detail=ending.detail if ending is not None else record.cause.why,
        started_at=last.started_at if last is not None else None,
        ended_at=last.ended_at if last is not None else None,
        host=last.host if last is not None else "",
        attempts=len(history),
        tokens_in=sum(each.tokens_in for each in endings),
        tokens_out=sum(each.tokens_out for each in endings),
        cost=total_cost(each.cost for each in endings),
    )


def _troubles(records: Iterable[Record]) -> Troubles:
    counts = dict.fromkeys(Troubles.__struct_fields__, 0)
    for record in records:
        for tried in record.history or ():
            trouble = _trouble(tried.ending) if tried.ending is not None else ""
            if trouble:
                counts[trouble] += 1
    return Troubles(**counts)


def _trouble(ending: Ending) -> str:
    """The trouble of the infrastructure that this ending tells of; empty if it tells of none."""
    match ending.kind:
        case EndingKind.OVERLOADED:
            if ending.rate_limited or ending.quota:
                return "rate_limited"
            killed = ending.exit_code in (-9, 137)
            return "out_of_memory" if killed else "overloaded"
        case EndingKind.LOST | EndingKind.PREEMPTED:
            return str(ending.kind)
        case EndingKind.DONE | EndingKind.FAILED | EndingKind.TIMED_OUT | EndingKind.CANCELLED:
            return ""
        case kind:
            assert_never(kind)


def _cost(arm: Arm, sessions: Sequence[SessionRecord]) -> float | None:
    """By the prices of the arm. Without prices, what its hosts or commands reported."""
    if arm.prices is None:
        return total_cost(session.cost for session in sessions)
    return sum(arm.prices.cost(session.tokens_in, session.tokens_out) for session in sessions)


def order_of(book: Book, eval_id: str, spec: Spec) -> tuple[SessionStart, ...]:
    """The sessions in the order in which their last attempts started; ties in the order of their attempts."""
    found: list[tuple[float, int, SessionStart]] = []
    for trial in trials_of(spec):
        run = book.runs.get(run_name(eval_id, trial))
        for session in range(1, spec.sessions + 1):
            record = session_of(run, session)
            if record is not None and record.history:
                last = record.history[-1]
                start = SessionStart(trial.arm, trial.case, trial.replication, session, last.started_at)
                found.append((last.started_at, last.attempt, start))
    return tuple(start for _, _, start in sorted(found, key=lambda each: each[:2]))


def _positions(order: Sequence[SessionStart]) -> dict[Trial, int]:
    """The place of each trial among those of its (case, replication), by its first session."""
    position_of: dict[Trial, int] = {}
    begun: dict[tuple[str, int], int] = {}
    for start in order:
        trial = Trial(start.arm, start.case, start.replication)
        if start.session == 1:
            key = start.case, start.replication
            position_of[trial] = begun[key] = begun.get(key, 0) + 1
    return position_of


def record_of(
    manifest: Manifest, book: Book, scores: dict[Trial, Scores], state: EvalState, now: float, warnings: Sequence[str]
) -> EvalRecord:
    spec = manifest.spec
    order = order_of(book, manifest.id, spec)
    position_of = _positions(order)
    outcomes = []
    for trial in trials_of(spec):
        name = run_name(manifest.id, trial)
        place = position_of.get(trial, 0)
        outcomes.append(outcome_of(trial, book.runs.get(name), name, spec, scores.get(trial), place))
    assert manifest.concurrency is not None
    return EvalRecord(
        id=manifest.id,
        spec=spec,
        source=manifest.source,
        state=state,
        concurrency=manifest.concurrency,
        outcomes=tuple(outcomes),
        order=order,
        started_at=manifest.started_at,
        ended_at=now,
        injections=tuple(standing_of(book.runs[manifest.id]).injections),
        warnings=(*warnings, *_not_begun(manifest.id, book, spec)),
    )


def _not_begun(eval_id: str, book: Book, spec: Spec) -> list[str]:
    """Attempts that could not even begin say more about the setup than about the arm."""
    why_of: dict[str, list[str]] = {}
    for trial in trials_of(spec):
        run = book.runs.get(run_name(eval_id, trial))
        for session in range(1, spec.sessions + 1):
            record = session_of(run, session)
            ending = record.last_ending if record is not None else None
            if ending is not None and ending.permanent and ending.exit_code is None:
                why_of.setdefault(trial.arm, []).append(ending.detail)
    return [f"arm {arm}: {len(why)} sessions could not begin: {why[0]}" for arm, why in why_of.items()]
