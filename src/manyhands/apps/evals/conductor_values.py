"""What the conductor of an eval is told (events) and what it answers (commands), as plain values."""

from typing import Literal

from msgspec import Struct

from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.spec.eval_types import EvalState, Injection, SessionEnd
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_notes import EvalRequest

# Events


class ConductorEvent(Struct, frozen=True):
    at: float


class EvalTakenUp(ConductorEvent, frozen=True, kw_only=True):
    """The first event: where the eval stands. A new eval stands nowhere; all of this is in the journal and in files."""

    ended: dict[SessionTurn, SessionEnd] = {}
    scored: frozenset[Trial] = frozenset()
    injections: tuple[Injection, ...] = ()
    paused: bool = False
    aborted: bool = False
    decided: bool = False
    user_left: bool = False  # pressed Ctrl-C before anything began


class WorkspaceReady(ConductorEvent, frozen=True):
    turn: SessionTurn


class SessionEnded(ConductorEvent, frozen=True):
    turn: SessionTurn
    end: SessionEnd
    on_disk: bool  # told twice: when it is decided, and when that is in the journal


class ScorerWaits(ConductorEvent, frozen=True):
    """Scoring has come to a task that needs a place."""

    run: str
    task: str


class ScorerEnded(ConductorEvent, frozen=True):
    run: str
    task: str


class TrialsScored(ConductorEvent, frozen=True):
    trials: tuple[Trial, ...]


class EvidenceWeighed(ConductorEvent, frozen=True):
    decided: bool


class RequestHeard(ConductorEvent, frozen=True):
    request: EvalRequest


class UserLeft(ConductorEvent, frozen=True):
    """The person at the keyboard wants this process to end. The eval continues another time."""

    stops_sessions: bool


class HostGaveUp(ConductorEvent, frozen=True):
    why: str


class AttemptsSettled(ConductorEvent, frozen=True):
    """After the sessions were told to pause or stop: nothing of the eval runs any more."""


class ConductorWoke(ConductorEvent, frozen=True):
    pass


# Commands


class CopyWorkspace(Struct, frozen=True):
    """Make the workspace of a trial before session 1; before later sessions, keep a copy of it."""

    turn: SessionTurn


class SessionOrder(Struct, frozen=True):
    turn: SessionTurn
    injected: tuple[Injection, ...] = ()


class HandInSessions(Struct, frozen=True):
    """These start together where there is room for all of them."""

    sessions: tuple[SessionOrder, ...]


class HandInScorer(Struct, frozen=True):
    run: str
    task: str


class ScoreTrials(Struct, frozen=True):
    """Trials of one (case, replication)."""

    trials: tuple[Trial, ...]


class WeighEvidence(Struct, frozen=True):
    """Find out whether the scores so far decide the eval."""


class TellSessions(Struct, frozen=True):
    """Pass a request on to everything of the eval that has been handed in and has not ended."""

    what: Literal["pause", "resume", "stop", "cancel"]


class SayToUser(Struct, frozen=True):
    text: str


class WakeConductorAt(Struct, frozen=True):
    at: float


class FinishEval(Struct, frozen=True):
    """The last command."""

    state: EvalState


ConductorCommand = (
    CopyWorkspace
    | HandInSessions
    | HandInScorer
    | ScoreTrials
    | WeighEvidence
    | TellSessions
    | SayToUser
    | WakeConductorAt
    | FinishEval
)
