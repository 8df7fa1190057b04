"""What people ask of an eval and how it ended, as notes on the eval's own run in the journal.

That run has the eval's name and no tasks. Whoever asks may be in another process: a request reaches the journal
through the store, and the process that runs the eval hears of it from there.
"""

from typing import Any

import msgspec
from msgspec import Struct

from manyhands.apps.evals.spec.eval_types import EvalState, Injection
from manyhands.core.events import RunNoted
from manyhands.core.state import Run
from manyhands.core.values.task import TERMINAL


class EvalPaused(Struct, frozen=True, tag="paused"):
    """Start nothing more; sessions that run finish."""


class EvalResumed(Struct, frozen=True, tag="resumed"):
    pass


class EvalAborted(Struct, frozen=True, tag="aborted"):
    """Stop what runs and report what is finished."""


class ContextInjected(Struct, frozen=True, omit_defaults=True, tag="injected"):
    """A person puts text into the prompts of sessions that have not begun. "" and 0 mean all of them."""

    text: str
    arm: str = ""
    case: str = ""
    replication: int = 0


class EvalEnded(Struct, frozen=True, tag="ended"):
    state: EvalState


EvalRequest = EvalPaused | EvalResumed | EvalAborted | ContextInjected
EvalNote = EvalRequest | EvalEnded


def noted(at: float, eval_id: str, note: EvalNote) -> RunNoted:
    return RunNoted(at, eval_id, msgspec.to_builtins(note), ends=isinstance(note, EvalEnded))


def note_in(event: RunNoted) -> EvalNote:
    return _read(event.note)


def _read(note: dict[str, Any]) -> EvalNote:
    read: EvalNote = msgspec.convert(note, EvalNote)
    return read


def injection_of(note: ContextInjected, at: float) -> Injection:
    return Injection(note.text, at, note.arm, note.case, note.replication)


class EvalStanding(Struct):
    """Where an eval stands after all notes on its run."""

    paused: bool = False
    aborted: bool = False
    ended: EvalState | None = None
    injections: list[Injection] = []


def standing_of(run: Run) -> EvalStanding:
    standing = EvalStanding()
    for kept in run.notes:
        match _read(kept.note):
            case EvalPaused():
                standing.paused = True
            case EvalResumed():
                standing.paused = False
            case EvalAborted():
                standing.aborted = True
            case ContextInjected() as note:
                standing.injections.append(injection_of(note, kept.at))
            case EvalEnded(state=state):
                standing.ended = state
    if standing.ended is None and is_of_older_version(run):
        standing.ended = _ended_in_older_version(run)
        standing.aborted = standing.ended == "aborted"
    return standing


#: Versions before notes kept an eval's state as this task of its run: done meant finished, cancelled meant aborted.
_END_TASK = "end"


def is_of_older_version(run: Run) -> bool:
    return _END_TASK in run.records


def _ended_in_older_version(run: Run) -> EvalState | None:
    state = run.records[_END_TASK].state
    if state not in TERMINAL:
        return None
    return "finished" if state == "done" else "aborted"
