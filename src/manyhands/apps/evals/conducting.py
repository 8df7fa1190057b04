"""Carries out what the conductor of an eval decides, on the dispatcher and on disk, and tells it what happens."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, assert_never

from manyhands.apps.evals import conductor_values as v
from manyhands.apps.evals.conductor import Conductor
from manyhands.apps.evals.eval_tasks import EvalTasks
from manyhands.apps.evals.figures import decided
from manyhands.apps.evals.heartbeats import Heartbeats
from manyhands.apps.evals.listening import Listening
from manyhands.apps.evals.pacing import SessionTurn
from manyhands.apps.evals.scoring.marking import Marking
from manyhands.apps.evals.spec.eval_types import EvalRecord, EvalState
from manyhands.apps.evals.spec.ordering import Trial, trials_of
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole
from manyhands.apps.evals.trial.eval_notes import EvalStanding, standing_of
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.outcomes import end_of, record_of, session_of
from manyhands.apps.evals.trial.trials import EvalTask, Sessions, run_name, session_id
from manyhands.apps.evals.workspaces import copy_fresh
from manyhands.core.events import AnyEvent, AttemptEnded, CancelAsked, Input, RunDrained, RunResumed, RunStopped
from manyhands.core.state import Record, Run
from manyhands.core.values.provenance import CausedBy, Origin
from manyhands.core.values.task import Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Unavailable

#: How often it looks whether the dispatcher is alive and whether hosts answer.
LOOK_S = 1.0
_ABORTED = "the eval was aborted"


class EvalObserver(Protocol):
    """Told what happens, for people."""

    def begins(self, over: int) -> None:
        """`over`: sessions that had ended in an earlier process."""

    def ended(self, turn: SessionTurn, record: Record) -> None: ...

    def marked(self, trial: Trial, scores: Scores) -> None: ...

    def says(self, text: str) -> None: ...


class Conducting:
    def __init__(
        self,
        dispatcher: Dispatcher,
        manifest: Manifest,
        layout: EvalLayout,
        store: Path,
        onlooker: EvalObserver,
        is_leaving: Callable[[], bool],
    ) -> None:
        """`is_leaving`: a drain of the eval's run was meant for this process, not for the eval."""
        assert manifest.concurrency is not None
        self._dispatcher = dispatcher
        self._book = dispatcher.book
        self._manifest = manifest
        self._spec = manifest.spec
        self._layout = layout
        self._store = store
        self._onlooker = onlooker
        self._is_leaving = is_leaving
        self._conductor = Conductor(manifest.spec, manifest.concurrency.n, manifest.fail_fast)
        self._engine = EvalTasks(dispatcher, manifest.id)
        self._listening = Listening(dispatcher, manifest.id, onlooker.says, is_leaving)
        self._sessions = Sessions(manifest.spec, layout)
        self._marking = Marking(manifest, layout, store, self._book.runs.get, self._carry_scorer)
        self._scorers: dict[tuple[str, str], tuple[Task, asyncio.Future[asyncio.Future[Record]]]] = {}
        self._beats = Heartbeats(layout, dispatcher.clock.now)
        self._finished: asyncio.Future[EvalState] = asyncio.get_running_loop().create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._told_to_settle = False  # that sessions should pause or stop is in the journal
        self.scores: dict[Trial, Scores] = {}

    async def run(self) -> EvalState:
        """Until every trial has come to its end, or someone wants it to stop."""
        taken_up = await self._take_up()
        self._dispatcher.recorded.append(self._recorded)
        self._dispatcher.following.append(self._follow)
        try:
            self._tell(taken_up)
            while not self._finished.done():
                await asyncio.wait({self._finished}, timeout=LOOK_S)
                if not self._finished.done():
                    await self._look()
            return self._finished.result()
        finally:
            self._dispatcher.recorded.remove(self._recorded)
            self._dispatcher.following.remove(self._follow)
            self._engine.close()
            if self._timer is not None:
                self._timer.cancel()
            for task in self._work:
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)
            await self._beats.close()

    def record(self, state: EvalState, warnings: Sequence[str] = ()) -> EvalRecord:
        told = (*warnings, self._listening.given_up) if self._listening.given_up else warnings
        return record_of(self._manifest, self._book, self.scores, state, self._now, told)

    # What is told to the conductor

    async def _take_up(self) -> v.EvalTakenUp:
        """Where an earlier process left the eval: in the journal and in files."""
        for trial in trials_of(self._spec):
            scores = read_whole(self._layout.scores(trial), Scores)
            if scores is not None:
                self.scores[trial] = scores
        weighs = self._spec.stop_when_decided and bool(self.scores)
        is_decided = weighs and await asyncio.to_thread(decided, self.record("stopped"))
        if self._standing().aborted:
            await self._cancel_all()
        # Nothing is awaited from here until the conductor listens: no request falls between the two.
        standing = self._standing()
        ended = {
            SessionTurn(trial, session): end
            for trial in trials_of(self._spec)
            for session in range(1, self._spec.sessions + 1)
            if (end := end_of(session_of(self._run_of(trial), session))) is not None
        }
        self._onlooker.begins(len(ended))
        return v.EvalTakenUp(
            self._now,
            ended=ended,
            scored=frozenset(self.scores),
            injections=tuple(standing.injections),
            paused=standing.paused,
            aborted=standing.aborted,
            decided=is_decided,
            user_left=self._is_leaving(),
        )

    def _standing(self) -> EvalStanding:
        return standing_of(self._book.runs[self._manifest.id])

    async def _cancel_all(self) -> None:
        """Cancel what an abort was to stop when the process was killed."""
        names = [run_name(self._manifest.id, trial) for trial in trials_of(self._spec)]
        left = [name for name in names if name in self._book.runs]
        await self._dispatcher.submit(*(CancelAsked(self._now, name, why=_ABORTED, by=CausedBy.RUN) for name in left))

    def _tell(self, *events: v.ConductorEvent) -> None:
        for event in self._carry_out(self._conductor.handle(*events)):
            self._dispatcher.tell(event)

    def _follow(self, happened: Sequence[Input]) -> list[Input]:
        """Hand in what starts in the place of what has just ended, in the same transaction: it saves one commit
        between the two. Requests of people are left until they are on disk, and all that follows from them."""
        if not any(isinstance(event, AttemptEnded) for event in happened) or self._listening.is_asked_in(happened):
            return []
        ended = [
            v.SessionEnded(self._now, turn, end, on_disk=False)
            for turn in self._conductor.in_flight
            if (end := end_of(session_of(self._run_of(turn.trial), turn.session))) is not None
        ]
        return self._carry_out(self._conductor.handle(*ended)) if ended else []

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        if heard := self._listening.heard(batch):
            self._tell(*heard)
        self._note_settled()

    def _note_settled(self) -> None:
        leaving = self._told_to_settle and self._conductor.is_leaving
        if leaving and not any(run.in_flight for run in self._engine.runs_in_flight()):
            self._tell(v.AttemptsSettled(self._now))

    async def _look(self) -> None:
        if not self._dispatcher.is_alive:
            await self._dispatcher.submit()  # raises what it died of
        if not self._conductor.is_held:
            self._tell(*self._listening.look_at_hosts(self._now))

    def _session_ended(self, turn: SessionTurn, ended: "asyncio.Future[Record]") -> None:
        if ended.cancelled():
            return
        record = ended.result()
        end = end_of(record)
        assert end is not None
        self._beats.ends(turn.trial, str(record.state))
        self._onlooker.ended(turn, record)
        self._tell(v.SessionEnded(self._now, turn, end, on_disk=True))

    # What the conductor wants done

    def _carry_out(self, commands: Sequence[v.ConductorCommand]) -> list[Input]:
        """Returns what is to be told to the dispatcher."""
        return [event for command in commands for event in self._carry_out_one(command)]

    def _carry_out_one(self, command: v.ConductorCommand) -> list[Input]:
        match command:
            case v.HandInSessions():
                return self._hand_in_sessions(command.sessions)
            case v.HandInScorer():
                return self._hand_in_scorer(command.run, command.task)
            case v.CopyWorkspace():
                self._spawn(self._copy(command.turn))
            case v.ScoreTrials():
                self._spawn(self._score(command.trials))
            case v.WeighEvidence():
                self._spawn(self._weigh())
            case v.TellSessions():
                self._spawn(self._tell_sessions(command.what))
            case v.SayToUser():
                self._onlooker.says(command.text)
            case v.WakeConductorAt():
                self._set_timer(command.at)
            case v.FinishEval():
                self._finished.set_result(command.state)
            case _:
                assert_never(command)
        return []

    def _hand_in_sessions(self, orders: Sequence[v.SessionOrder]) -> list[Input]:
        tasks = [self._task(order) for order in orders]
        for order, future in zip(orders, self._engine.wait_for(*tasks), strict=True):
            future.add_done_callback(partial(self._session_ended, order.turn))
            self._beats.begins(*order.turn)
        return self._engine.events_of(*tasks)

    def _task(self, order: v.SessionOrder) -> EvalTask:
        """A session that was handed in before keeps its task: context that came since is not for it."""
        name = run_name(self._manifest.id, order.turn.trial)
        known = session_of(self._run_of(order.turn.trial), order.turn.session)
        if known is not None:
            return EvalTask(name, known.task, known.origin)
        origin = Origin.TOUCHED_SESSION if order.injected else Origin.SESSION
        return EvalTask(name, self._sessions.task(*order.turn, injected=order.injected), origin)

    async def _copy(self, turn: SessionTurn) -> None:
        if turn.session == 1:
            await asyncio.to_thread(self._make_workspace, turn.trial)
        else:
            before = self._layout.before(turn.trial, turn.session)
            if not before.exists():
                await asyncio.to_thread(copy_fresh, self._layout.workspace(turn.trial), before)
        self._tell(v.WorkspaceReady(self._now, turn))

    def _make_workspace(self, trial: Trial) -> None:
        if not self._layout.workspace(trial).exists():
            copy_fresh(self._layout.case(trial.case), self._layout.workspace(trial))
        if self._spec.arm(trial.arm).run:  # a session starts faster if its directory exists
            place = attempt_directory(self._store, run_name(self._manifest.id, trial), session_id(1), 1)
            Path(place).mkdir(parents=True, exist_ok=True)

    async def _score(self, trials: tuple[Trial, ...]) -> None:
        for trial, scores in (await self._marking.mark(trials)).items():
            self.scores[trial] = scores
            self._onlooker.marked(trial, scores)
            for session in range(2, self._spec.sessions + 1):  # no session of it is repeated any more
                await asyncio.to_thread(shutil.rmtree, self._layout.before(trial, session), ignore_errors=True)
        self._tell(v.TrialsScored(self._now, trials))

    async def _carry_scorer(self, run: str, task: Task) -> Record:
        """To its end, once the conductor has a place for it."""
        handed_in: asyncio.Future[asyncio.Future[Record]] = asyncio.get_running_loop().create_future()
        self._scorers[run, task.id] = task, handed_in
        self._tell(v.ScorerWaits(self._now, run, task.id))
        record = await (await handed_in)
        self._tell(v.ScorerEnded(self._now, run, task.id))
        return record

    def _hand_in_scorer(self, run: str, task_id: str) -> list[Input]:
        task, handed_in = self._scorers.pop((run, task_id))
        scorer = EvalTask(run, task, Origin.SCORER)
        handed_in.set_result(self._engine.wait_for(scorer)[0])
        return self._engine.events_of(scorer)

    async def _weigh(self) -> None:
        is_decided = await asyncio.to_thread(decided, self.record("stopped"))
        self._tell(v.EvidenceWeighed(self._now, is_decided))

    async def _tell_sessions(self, what: Literal["pause", "resume", "stop", "cancel"]) -> None:
        runs = [run.name for run in self._engine.runs_in_flight()]
        events: list[Input] = []
        match what:
            case "pause":
                events += [RunDrained(self._now, run) for run in runs]
            case "resume":
                events += [RunResumed(self._now, run, 1) for run in runs]
            case "stop":
                events += [RunStopped(self._now, run) for run in runs]
            case "cancel":
                sessions = self._engine.sessions
                events += [CancelAsked(self._now, run, task, _ABORTED, CausedBy.RUN) for run, task in sessions]
        await self._dispatcher.submit(*events)
        self._told_to_settle = what in ("pause", "stop")
        self._note_settled()

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay_s = max(0.0, at - self._now)
        self._timer = asyncio.get_running_loop().call_later(delay_s, lambda: self._tell(v.ConductorWoke(self._now)))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work_ended)

    def _work_ended(self, task: "asyncio.Task[None]") -> None:
        self._work.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or self._finished.done():
            return
        if isinstance(error, OSError):
            hint = "make room for it, and run the same command again"
            told = Unavailable(f"the eval cannot continue: {error}", hint)
            told.__cause__ = error
            error = told
        self._finished.set_exception(error)

    def _run_of(self, trial: Trial) -> Run | None:
        return self._book.runs.get(run_name(self._manifest.id, trial))

    @property
    def _now(self) -> float:
        return self._dispatcher.clock.now()
