"""From the journal's events to what the conductor of an eval is told: requests, a user who leaves, silent hosts."""

from collections.abc import Callable, Sequence

from manyhands.apps.evals.conductor_values import ConductorEvent, HostGaveUp, RequestHeard, UserLeft
from manyhands.apps.evals.trial.eval_notes import EvalAborted, EvalEnded, EvalPaused, EvalResumed, note_in, noted
from manyhands.core.events import (
    AnyEvent,
    CancelAsked,
    Input,
    RetryDecided,
    RunDrained,
    RunNoted,
    RunResumed,
    RunStopped,
)
from manyhands.core.values.provenance import Purpose
from manyhands.engine.dispatcher import Dispatcher

#: A host that takes nothing is left alone and tried again this often, for up to a minute each: about seven minutes.
TRIALS_MAX = 12


class Listening:
    def __init__(
        self, dispatcher: Dispatcher, eval_id: str, says: Callable[[str], None], is_leaving: Callable[[], bool]
    ) -> None:
        """`is_leaving`: a drain of the eval's run was meant for this process, not for the eval."""
        self.given_up = ""  # why a host is no longer waited for
        self._dispatcher = dispatcher
        self._book = dispatcher.book
        self._eval_id = eval_id
        self._says = says
        self._is_leaving = is_leaving
        self._delayed: set[str] = set()  # runs of which the user has been told
        self._trials_before = {name: host.trials for name, host in self._book.hosts.items()}

    def is_asked_in(self, batch: Sequence[AnyEvent]) -> bool:
        return any(getattr(event, "run", "") == self._eval_id for event in batch)

    def heard(self, batch: Sequence[AnyEvent]) -> list[ConductorEvent]:
        told: list[ConductorEvent] = []
        for event in batch:
            if isinstance(event, RetryDecided):
                self._say_once(event)
            elif getattr(event, "run", "") == self._eval_id:
                told += self._of_the_eval(event)
        return told

    def _of_the_eval(self, event: AnyEvent) -> list[ConductorEvent]:
        match event:
            case RunNoted():
                note = note_in(event)
                return [] if isinstance(note, EvalEnded) else [RequestHeard(event.at, note)]
            case RunStopped():
                return [UserLeft(event.at, stops_sessions=True)]
            case RunDrained() if self._is_leaving():
                return [UserLeft(event.at, stops_sessions=False)]
            case RunDrained() | RunResumed() | CancelAsked():
                self._dispatcher.tell(self._as_note(event))
        return []

    def _as_note(self, event: RunDrained | RunResumed | CancelAsked) -> Input:
        """The verbs for runs work on an eval too; as a note they outlive this process."""
        match event:
            case RunDrained():
                return noted(event.at, self._eval_id, EvalPaused())
            case RunResumed():
                return noted(event.at, self._eval_id, EvalResumed())
            case CancelAsked():
                return noted(event.at, self._eval_id, EvalAborted())

    def look_at_hosts(self, at: float) -> list[ConductorEvent]:
        """A host that takes nothing is tried less and less often, by one session after the other.

        That could take days.
        """
        for name, host in self._book.hosts.items():
            before = self._trials_before[name] = min(self._trials_before.get(name, 0), host.trials)
            if host.trials - before >= TRIALS_MAX:
                times = host.trials - before
                self.given_up = f"host {name} did not accept work {times} times in a row: {host.paused}"
                return [HostGaveUp(at, self.given_up)]
        return []

    def _say_once(self, event: RetryDecided) -> None:
        """Why a session takes longer than its agent does. Only the first time of each: the rest would be a flood."""
        run = self._book.runs.get(event.run)
        if run is None or run.purpose is not Purpose.TRIAL or run.source != self._eval_id:
            return
        if event.run not in self._delayed:
            self._delayed.add(event.run)
            self._says(f"{event.run} {event.task} waits and is tried again: {run.records[event.task].cause.why}")
