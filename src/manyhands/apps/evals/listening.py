"""What people ask of an eval that runs (pause, resume, stop, abort), passed on to every session in flight.

It hears of it by events of the eval's own run, whoever they came from.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from manyhands.apps.evals.eval_tasks import EvalTasks
from manyhands.apps.evals.trial.trials import is_session, source_of_trials
from manyhands.core.events import AnyEvent, CancelAsked, RetryDecided, RunDrained, RunResumed, RunStopped

#: So often a host is left alone and tried again, for up to a minute each: about seven minutes without an answer.
TRIALS_MAX = 12


class Talk(Protocol):
    def says(self, text: str) -> None: ...


class Listening:
    def __init__(
        self, engine: EvalTasks, eval_id: str, talk: Talk, is_leaving: Callable[[], bool], changed: Callable[[], None]
    ) -> None:
        """`is_leaving`: a drain of the eval's run was meant for this process, not for the eval."""
        self.paused = is_leaving()  # had enough before anything began
        self.stopped = self.aborted = False
        self._engine = engine
        self._dispatcher = engine.dispatcher
        self._eval_id = eval_id
        self._talk = talk
        self._is_leaving = is_leaving
        self._changed = changed
        self._delayed: set[str] = set()  # runs of which it has been said
        self.given_up = ""  # why nothing more is waited for
        self._trials_before = {name: host.trials for name, host in engine.book.hosts.items()}

    @property
    def leaves(self) -> bool:
        return self.paused and (bool(self.given_up) or self._is_leaving())

    @property
    def held(self) -> bool:
        return self.paused or self.stopped

    def is_asked_in(self, batch: Sequence[AnyEvent]) -> bool:
        return any(getattr(event, "run", "") == self._eval_id for event in batch)

    def heard(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if isinstance(event, RetryDecided):
                self._say_once(event)
            if getattr(event, "run", "") != self._eval_id:
                continue
            match event:
                case RunDrained() if not self.paused:
                    self._pause()
                case RunStopped():
                    self._stop()
                case RunResumed() if self.paused:
                    self._resume()
                case CancelAsked():
                    self._abort()

    def look_at_hosts(self) -> None:
        """A host that takes nothing is asked ever more rarely, by one session after the other: that could be days."""
        for name, host in self._engine.book.hosts.items():
            before = self._trials_before[name] = min(self._trials_before.get(name, 0), host.trials)
            if host.trials - before >= TRIALS_MAX and not self.paused:
                self.given_up = f"host {name} takes nothing, {host.trials - before} times in a row: {host.paused}"
                self._talk.says(f"{self.given_up}; no longer waited for")
                self._pause()

    def _say_once(self, event: RetryDecided) -> None:
        """Why a session is taking longer than its agent does; more than the first time of each would be a flood."""
        run = self._engine.book.runs.get(event.run)
        if run is not None and run.source == source_of_trials(self._eval_id) and event.run not in self._delayed:
            self._delayed.add(event.run)
            self._talk.says(f"{event.run} {event.task} waits and is tried again: {run.records[event.task].cause}")

    def _pause(self) -> None:
        """What is in flight settles; what would be tried again waits."""
        self.paused = True
        for run in self._engine.runs_in_flight():
            self._dispatcher.tell(RunDrained(self._now, run.name))
        if not self.leaves:
            self._talk.says("paused: nothing more is started until `manyhands eval resume`")
        self._changed()

    def _resume(self) -> None:
        self.paused = False
        for run in self._engine.runs_in_flight():
            self._dispatcher.tell(RunResumed(self._now, run.name, 1))
        self._talk.says("goes on")
        self._changed()

    def _stop(self) -> None:
        self.stopped = True
        for run in self._engine.runs_in_flight():
            self._dispatcher.tell(RunStopped(self._now, run.name))
        self._changed()

    def _abort(self) -> None:
        """Sessions in flight are cancelled; trials that had ended keep what they have."""
        self.aborted, self.paused = True, False
        for run, task in self._engine.waiting:
            if is_session(task):
                self._dispatcher.tell(CancelAsked(self._now, run, task, "the eval was aborted"))
        self._talk.says("aborted: what runs is being stopped")
        self._changed()

    @property
    def _now(self) -> float:
        return self._dispatcher.clock.now()
