"""The conductor of an eval: told what happened, it answers with what is to be done now.

A pure state machine: no clock, no I/O, no task of the loop. What a crash may not lose is in the journal and in files,
and `EvalTakenUp` tells it: an eval that was interrupted continues like one that was not.
"""

from collections.abc import Callable, Iterable
from typing import Any

from manyhands.apps.evals import conductor_values as v
from manyhands.apps.evals.pacing import SessionPacer, SessionTurn
from manyhands.apps.evals.spec.eval_types import EvalState, Injection, SessionEnd, Spec
from manyhands.apps.evals.spec.ordering import Trial, trials_of, units_of
from manyhands.apps.evals.trial.eval_notes import ContextInjected, EvalAborted, EvalPaused, EvalResumed, injection_of
from manyhands.apps.evals.trial.trial_state import trial_state

#: Work that is not urgent waits this long. Sessions end and start in clusters, and other work would delay a start.
CALM_S = 0.05


class Conductor:
    def __init__(self, spec: Spec, at_once: int, fail_fast: bool = False) -> None:
        self._spec = spec
        self._fail_fast = fail_fast
        self._at_once = at_once
        self._ends: dict[SessionTurn, SessionEnd] = {}
        self._pacer = self._make_pacer()
        self._at = 0.0
        self._commands: list[v.ConductorCommand] = []
        self._finished = False
        # What people have asked for, and what has become of the eval
        self._injections: list[Injection] = []
        self._paused = self._aborted = self._failed = self._decided = False
        self._left = self._stops = self._settled = False
        self._given_up = False  # a host did not answer, and nobody has resumed the eval since
        # Sessions
        self._not_on_disk: set[SessionTurn] = set()  # ended, but that is not in the journal yet
        self._copied: dict[SessionTurn, bool] = {}  # whether the copy is ready
        self._waiting_for_copies: list[tuple[SessionTurn, ...]] = []  # in flight for the pacer
        self._prepare_at: float | None = None
        # Scores
        self._to_score: list[tuple[float, tuple[Trial, ...]]] = []  # when
        self._taken_to_score: set[Trial] = set()
        self._scored: set[Trial] = set()
        self._scorers: list[tuple[str, str]] = []  # run and task of those that wait for a place
        self._weighings = 0
        self._wake_at: float | None = None
        self._rules: dict[type, Callable[[Any], None]] = {
            v.EvalTakenUp: self._on_taken_up,
            v.WorkspaceReady: self._on_workspace_ready,
            v.SessionEnded: self._on_session_ended,
            v.ScorerWaits: lambda event: self._scorers.append((event.run, event.task)),
            v.ScorerEnded: lambda event: self._pacer.give_place(),
            v.TrialsScored: self._on_scored,
            v.EvidenceWeighed: self._on_weighed,
            v.RequestHeard: self._on_request,
            v.UserLeft: self._on_user_left,
            v.HostGaveUp: self._on_host_gave_up,
            v.AttemptsSettled: self._on_settled,
            v.ConductorWoke: self._on_woke,
        }

    def handle(self, *events: v.ConductorEvent) -> list[v.ConductorCommand]:
        """All that happened at once. After the eval is finished nothing follows from anything."""
        if self._finished:
            return []
        self._commands = []
        for event in events:
            self._at = max(self._at, event.at)
            self._rules[type(event)](event)
        self._start_scorers()
        self._start_sessions()
        self._copy_what_is_next()
        self._score_what_is_due()
        self._finish_if_at_rest()
        self._set_wake()
        return self._commands

    @property
    def in_flight(self) -> tuple[SessionTurn, ...]:
        """Sessions that have a place: handed in, or about to be."""
        return tuple(self._pacer.in_flight)

    @property
    def is_held(self) -> bool:
        """Nothing more is started, for now or in this process."""
        return self._paused or self._left or self._stops or self._given_up

    @property
    def is_leaving(self) -> bool:
        """This process ends once nothing runs. An abort is carried through first: it takes a moment."""
        return self._stops or ((self._left or self._given_up) and not self._aborted)

    @property
    def _is_enough(self) -> bool:
        """No further session begins, and what has ended is reported."""
        return self._failed or self._aborted or self._decided

    # What people and hosts do

    def _on_request(self, event: v.RequestHeard) -> None:
        match event.request:
            case EvalPaused() if not self._paused and not self._aborted:
                self._paused = True
                self._do(v.TellSessions("pause"), v.SayToUser("paused: nothing starts until `manyhands eval resume`"))
            case EvalResumed() if (self._paused or self._given_up) and not (self._left or self._stops):
                self._paused = self._given_up = self._settled = False
                self._do(v.TellSessions("resume"), v.SayToUser("resumed"))
            case EvalAborted() if not self._aborted:
                self._abort()
            case ContextInjected() as context if (known := injection_of(context, event.at)) not in self._injections:
                self._injections.append(known)
            case _:
                pass  # it was asked for twice, or `EvalTakenUp` has told it

    def _abort(self) -> None:
        """Sessions in flight are cancelled; trials that have ended are scored, also if the eval was paused."""
        self._do(v.TellSessions("cancel"))
        if self.is_held and not self._stops:
            self._do(v.TellSessions("resume"))  # what scores them runs in the same runs
        self._aborted, self._paused, self._given_up, self._left = True, False, False, False
        self._do(v.SayToUser("aborted: running sessions are being stopped"))

    def _on_user_left(self, event: v.UserLeft) -> None:
        if event.stops_sessions:
            self._stops = True
            self._do(v.TellSessions("stop"))
        elif not self._aborted:
            self._left = True
            self._do(v.TellSessions("pause"))

    def _on_host_gave_up(self, event: v.HostGaveUp) -> None:
        if not self.is_held and not self._aborted:
            self._given_up = True
            self._do(v.TellSessions("pause"), v.SayToUser(f"{event.why}; the eval no longer waits for it"))

    def _on_settled(self, event: v.AttemptsSettled) -> None:
        self._settled = self.is_leaving

    # Sessions

    def _on_taken_up(self, event: v.EvalTakenUp) -> None:
        self._ends = dict(event.ended)
        self._scored = set(event.scored)
        self._taken_to_score = set(event.scored)
        self._injections = list(event.injections)
        self._paused, self._aborted, self._decided = event.paused and not event.aborted, event.aborted, event.decided
        self._pacer = self._make_pacer()
        for case in self._spec.cases:
            for replication in range(1, self._spec.replications + 1):
                self._plan_scoring(case.name, replication)
        if event.user_left:
            self._on_user_left(v.UserLeft(event.at, stops_sessions=False))

    def _make_pacer(self) -> SessionPacer:
        """After a session that was not done, the later ones of its trial are not begun."""
        sessions = self._spec.sessions
        over = [
            SessionTurn(turn.trial, session)
            for turn, end in self._ends.items()
            for session in range(turn.session, turn.session + 1 if end == "done" else sessions + 1)
        ]
        return SessionPacer(units_of(self._spec), sessions, self._at_once, over)

    def _start_sessions(self) -> None:
        if self.is_held or self._is_enough:
            for turns in self._waiting_for_copies:
                for turn in turns:
                    self._pacer.put_back(turn)
            self._waiting_for_copies = []
            return
        waiting, self._waiting_for_copies = self._waiting_for_copies, []
        for turns in (*waiting, *map(tuple, self._pacer.start())):
            self._copy(turns)
            if all(self._copied[turn] for turn in turns):
                self._do(v.HandInSessions(tuple(v.SessionOrder(turn, self._injected(turn.trial)) for turn in turns)))
            else:
                self._waiting_for_copies.append(turns)

    def _copy(self, turns: Iterable[SessionTurn]) -> None:
        for turn in turns:
            if turn not in self._copied:
                self._copied[turn] = False
                self._do(v.CopyWorkspace(turn))

    def _copy_what_is_next(self) -> None:
        """Ahead of time, so that a session that takes a place need not wait for its workspace."""
        soon = self._pacer.soon(1 + self._at_once // len(self._spec.arms))
        missing = [turn for turn in soon if turn not in self._copied]
        if self.is_held or self._is_enough or not missing:
            self._prepare_at = None
        elif self._prepare_at is None:
            self._prepare_at = self._at + CALM_S
        elif self._at >= self._prepare_at:
            self._prepare_at = None
            self._copy(missing)

    def _on_workspace_ready(self, event: v.WorkspaceReady) -> None:
        self._copied[event.turn] = True

    def _injected(self, trial: Trial) -> tuple[Injection, ...]:
        return tuple(
            one
            for one in self._injections
            if one.arm in ("", trial.arm) and one.case in ("", trial.case) and one.replication in (0, trial.replication)
        )

    def _on_session_ended(self, event: v.SessionEnded) -> None:
        turn = event.turn
        if turn not in self._ends:
            self._ends[turn] = event.end
            self._pacer.ended(turn, event.end == "done")
            if event.end != "done" and self._fail_fast and not self._aborted:
                self._failed = True
        if event.on_disk:
            self._not_on_disk.discard(turn)
            self._plan_scoring(turn.trial.case, turn.trial.replication)
        else:
            self._not_on_disk.add(turn)

    # Scores

    def _plan_scoring(self, case: str, replication: int, as_far_as_it_is: bool = False) -> None:
        """The trials of all arms are scored together: a judge compares them."""
        trials = [Trial(arm.name, case, replication) for arm in self._spec.arms]
        states = {trial: trial_state(self._ends_of(trial)) for trial in trials}
        if "missing" in states.values() and not as_far_as_it_is:
            return
        left = tuple(trial for trial in trials if states[trial] == "scored" and trial not in self._taken_to_score)
        if left:
            self._taken_to_score.update(left)
            self._to_score.append((self._at + CALM_S, left))

    def _ends_of(self, trial: Trial) -> list[SessionEnd | None]:
        return [self._ends.get(SessionTurn(trial, session)) for session in range(1, self._spec.sessions + 1)]

    def _score_what_is_due(self) -> None:
        for due in [due for due in self._to_score if due[0] <= self._at]:
            self._to_score.remove(due)
            self._do(v.ScoreTrials(due[1]))

    def _start_scorers(self) -> None:
        """Before sessions: what has ended should soon be known."""
        while self._scorers and not self.is_held and self._pacer.take_place():
            self._do(v.HandInScorer(*self._scorers.pop(0)))

    def _on_scored(self, event: v.TrialsScored) -> None:
        self._scored.update(event.trials)
        if self._spec.stop_when_decided and not self._decided and self._is_case_over(event.trials[0].case):
            self._weighings += 1
            self._do(v.WeighEvidence())

    def _is_case_over(self, case: str) -> bool:
        trials = [trial for trial in trials_of(self._spec) if trial.case == case]
        return all(trial in self._scored or trial_state(self._ends_of(trial)) == "infrastructure" for trial in trials)

    def _on_weighed(self, event: v.EvidenceWeighed) -> None:
        self._weighings -= 1
        self._decided = self._decided or event.decided

    # Time, and the end

    def _on_woke(self, event: v.ConductorWoke) -> None:
        self._wake_at = None

    def _set_wake(self) -> None:
        due = [at for at, _ in self._to_score] + ([self._prepare_at] if self._prepare_at is not None else [])
        if due and not self._finished and (self._wake_at is None or min(due) < self._wake_at):
            self._wake_at = min(due)
            self._do(v.WakeConductorAt(self._wake_at))

    def _finish_if_at_rest(self) -> None:
        if self._not_on_disk:
            return
        if self._is_enough and not self._pacer.in_flight:
            for case in self._spec.cases:
                for replication in range(1, self._spec.replications + 1):
                    self._plan_scoring(case.name, replication, as_far_as_it_is=True)
        if self._is_all_done():
            self._finish(self._final_state())
        elif self.is_leaving and self._settled:
            self._finish("stopped")

    def _is_all_done(self) -> bool:
        is_scored = self._taken_to_score <= self._scored and not self._weighings
        return is_scored and not self._pacer.in_flight and (self._is_enough or self._pacer.is_over)

    def _final_state(self) -> EvalState:
        if self._aborted:
            return "aborted"
        if self._failed:
            return "failed_fast"
        return "finished" if self._pacer.is_over else "decided"

    def _finish(self, state: EvalState) -> None:
        self._finished = True
        self._do(v.FinishEval(state))

    def _do(self, *commands: v.ConductorCommand) -> None:
        self._commands += commands
