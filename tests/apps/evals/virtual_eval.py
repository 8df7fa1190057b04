"""An eval in virtual time: carries out what the conductor wants without a process, a file or a clock.

What a real eval keeps in its journal and its files is kept here too, and survives `crash`; all else is lost with it.
"""

import heapq
from collections.abc import Callable
from typing import Any

from manyhands.apps.evals import conductor_values as v
from manyhands.apps.evals.conductor import Conductor
from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.spec.eval_types import EvalState, Injection, SessionEnd, Spec
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_notes import ContextInjected, EvalAborted, EvalRequest, injection_of

SESSION_S, COPY_S, SCORE_S, COMMIT_S = 10.0, 0.5, 1.0, 0.01


class VirtualEval:
    def __init__(
        self,
        spec: Spec,
        at_once: int = 1,
        fail_fast: bool = False,
        end_of: Callable[[SessionTurn], SessionEnd] = lambda turn: "done",
        scorers: bool = False,
        decided_after: int | None = None,
    ) -> None:
        """`scorers`: a task of its own scores each trial; `decided_after`: so many scored trials decide the eval."""
        self.spec, self.at_once, self.fail_fast = spec, at_once, fail_fast
        self._end_of = end_of
        self._has_scorers = scorers
        self._decided_after = decided_after
        self.at = 0.0
        # What is kept
        self.ended: dict[SessionTurn, SessionEnd] = {}
        self.scored: set[Trial] = set()
        self.injections: list[Injection] = []
        self.aborted = False
        self.state: EvalState | None = None
        # What is remembered for the test
        self.started: list[tuple[float, SessionTurn]] = []
        self.injected: dict[SessionTurn, tuple[str, ...]] = {}
        self.commands: list[v.ConductorCommand] = []
        self.said: list[str] = []
        self.begin()

    # One process

    def begin(self, user_left: bool = False) -> None:
        self._due: list[tuple[float, int, v.ConductorEvent]] = []
        self._count = 0
        self._copied: set[SessionTurn] = set()
        self.running: set[SessionTurn] = set()
        self.scorers_running: set[str] = set()
        self._scorers_of: dict[tuple[Trial, ...], set[str]] = {}
        self.conductor = Conductor(self.spec, self.at_once, self.fail_fast)
        self.tell(
            v.EvalTakenUp(
                self.at,
                ended=dict(self.ended),
                scored=frozenset(self.scored),
                injections=tuple(self.injections),
                aborted=self.aborted,
                user_left=user_left,
            )
        )

    def crash(self) -> None:
        """Killed with -9, and run again."""
        self.begin()

    def step(self) -> bool:
        """The next thing that happens; False if nothing does."""
        if self.state is not None or not self._due:
            return False
        self.at, _, event = heapq.heappop(self._due)
        match event:
            case v.SessionEnded(turn=turn, end=end, on_disk=False):
                if turn not in self.running:
                    return True  # it was stopped before
                self.running.discard(turn)
                self._later(COMMIT_S, v.SessionEnded(self.at + COMMIT_S, turn, end, on_disk=True))
            case v.SessionEnded(turn=turn, end=end):
                self.ended[turn] = end
            case v.ScorerEnded(run=run):
                self.scorers_running.discard(run)
                self._scorer_ended(run)
            case v.TrialsScored(trials=trials):
                self.scored.update(trials)
        self.tell(event)
        return True

    def run(self, until: Callable[[], object] = lambda: False) -> "VirtualEval":
        """Until this holds, or nothing more happens."""
        while not until() and self.step():
            pass
        return self

    def ask(self, request: EvalRequest) -> None:
        self.aborted = self.aborted or isinstance(request, EvalAborted)
        if isinstance(request, ContextInjected):
            self.injections.append(injection_of(request, self.at))
        self.tell(v.RequestHeard(self.at, request))

    def tell(self, event: v.ConductorEvent) -> None:
        was_held = self.conductor.is_held
        for command in self.conductor.handle(event):
            self.commands.append(command)
            self._carry_out(command, was_held and self.conductor.is_held)
        assert len(self.running) + len(self.scorers_running) <= self.at_once
        if self.conductor.is_leaving and not self.running and self.state is None:
            self._later(COMMIT_S, v.AttemptsSettled(self.at + COMMIT_S))

    def _carry_out(self, command: v.ConductorCommand, is_held: bool) -> None:
        match command:
            case v.CopyWorkspace(turn=turn):
                self._later(COPY_S, v.WorkspaceReady(self.at + COPY_S, turn))
                self._copied.add(turn)
            case v.HandInSessions(sessions=orders):
                assert not is_held, "nothing starts while the eval is held"
                for order in orders:
                    self._start(order)
            case v.ScoreTrials(trials=trials):
                assert not self.scored & set(trials), "scored twice"
                self._score(trials)
            case v.HandInScorer(run=run):
                self.scorers_running.add(run)
                self._later(SCORE_S, v.ScorerEnded(self.at + SCORE_S, run, "score"))
            case v.WeighEvidence():
                enough = self._decided_after is not None and len(self.scored) >= self._decided_after
                self._later(0.1, v.EvidenceWeighed(self.at + 0.1, enough))
            case v.TellSessions(what=what):
                self._tell_sessions(what)
            case v.SayToUser(text=text):
                self.said.append(text)
            case v.WakeConductorAt(at=at):
                self._later(at - self.at, v.ConductorWoke(at))
            case v.FinishEval(state=state):
                assert self.state is None
                self.state = state

    def _start(self, order: v.SessionOrder) -> None:
        turn = order.turn
        assert turn not in self.running
        assert turn not in self.ended, "a session that ended is not begun again"
        assert turn in self._copied
        assert turn.session == 1 or self.ended[SessionTurn(turn.trial, turn.session - 1)] == "done"
        self.started.append((self.at, turn))
        self.injected[turn] = tuple(one.text for one in order.injected)
        self.running.add(turn)
        self._later(SESSION_S, v.SessionEnded(self.at + SESSION_S, turn, self._end_of(turn), on_disk=False))

    def _score(self, trials: tuple[Trial, ...]) -> None:
        if not self._has_scorers:
            self._later(SCORE_S, v.TrialsScored(self.at + SCORE_S, trials))
            return
        self._scorers_of[trials] = {"-".join(map(str, trial)) for trial in trials}
        for run in sorted(self._scorers_of[trials]):
            self._later(0.0, v.ScorerWaits(self.at, run, "score"))

    def _scorer_ended(self, run: str) -> None:
        for trials, left in self._scorers_of.items():
            if run in left:
                left.discard(run)
                if not left:
                    self._later(0.0, v.TrialsScored(self.at, trials))

    def _tell_sessions(self, what: str) -> None:
        if what == "stop":
            self.running.clear()
        elif what == "cancel":
            for turn in self.running:
                self._later(0.2, v.SessionEnded(self.at + 0.2, turn, "aborted", on_disk=False))

    def _later(self, delay_s: float, event: v.ConductorEvent) -> None:
        self._count += 1
        heapq.heappush(self._due, (self.at + delay_s, self._count, event))

    def of(self, kind: type[Any]) -> list[Any]:
        return [command for command in self.commands if isinstance(command, kind)]

    def order(self) -> list[str]:
        return [
            f"{turn.trial.arm}{turn.trial.case}r{turn.trial.replication}s{turn.session}" for _, turn in self.started
        ]
