"""Brings every trial of an eval to its end on the engine: what starts when, what is scored, what people ask for.

It keeps nothing of its own that a crash could lose: where each trial stands is in the journal and in files.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from manyhands.apps.evals import eval_control_events
from manyhands.apps.evals.eval_tasks import EvalTasks
from manyhands.apps.evals.figures import decided
from manyhands.apps.evals.heartbeats import Heartbeats
from manyhands.apps.evals.listening import Listening
from manyhands.apps.evals.pacing import SessionPacer, SessionTurn
from manyhands.apps.evals.scoring.marking import Marking
from manyhands.apps.evals.spec.eval_types import EvalRecord, EvalState, Injection, TrialState
from manyhands.apps.evals.spec.ordering import Trial, units_of
from manyhands.apps.evals.trial.eval_layout import EvalLayout, read_whole
from manyhands.apps.evals.trial.manifest import Manifest, Scores
from manyhands.apps.evals.trial.outcomes import (
    ended_well,
    injections_of,
    is_over,
    record_of,
    session_of,
    state_of,
    trials_of,
)
from manyhands.apps.evals.trial.trials import Sessions, run_name, session_id, source_of_trials
from manyhands.apps.evals.workspaces import copy_fresh
from manyhands.core.events import AttemptEnded, CancelAsked, Input
from manyhands.core.state import Record, Run
from manyhands.core.values.task import Task
from manyhands.engine.dispatcher import Dispatcher
from manyhands.engine.run_opening import attempt_directory
from manyhands.errors import Unavailable

#: How often it looks whether the dispatcher is alive.
LOOK_S = 1.0
#: What is not urgent waits so long: sessions end and start in clusters, and a start is held up by whatever else works.
CALM_S = 0.05


class EvalObserver(Protocol):
    """Told of what goes on."""

    def begins(self, over: int) -> None:
        """`over`: sessions that had ended before."""

    def ended(self, turn: SessionTurn, record: Record) -> None: ...

    def marked(self, trial: Trial, scores: Scores) -> None: ...

    def says(self, text: str) -> None: ...


class Conductor:
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
        self._manifest = manifest
        self._spec = manifest.spec
        self._layout = layout
        self._store = store
        self._onlooker = onlooker
        self._changed = asyncio.Event()
        self._engine = EvalTasks(dispatcher, source_of_trials(manifest.id), self._changed.set)
        self._people = Listening(self._engine, manifest.id, onlooker, is_leaving, self._changed.set)
        self._sessions = Sessions(manifest.spec, layout)
        self._marking = Marking(manifest, layout, store, dispatcher.book.runs.get, self._carry_scorer)
        self._pacer = self._make_pacer(manifest.concurrency.n)
        self._wants_place: list[asyncio.Future[None]] = []
        self._copying: dict[Trial, asyncio.Task[None]] = {}
        self._preparing: asyncio.TimerHandle | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._beats = Heartbeats(layout, dispatcher.clock.now)
        self._failed = self._decided = False
        self._followed: set[SessionTurn] = set()  # ended, and their places are taken, but that is not on disk yet
        self._marked: set[Trial] = set()  # scored, or about to be
        self.scores: dict[Trial, Scores] = {}

    # Life

    async def run(self) -> EvalState:
        """Until every trial has come to its end, or someone has had enough."""
        self._dispatcher.recorded.append(self._people.heard)
        self._dispatcher.following.append(self._follow)
        try:
            await self._take_up()
            while True:
                self._start_what_may()
                if self._is_at_rest():
                    break
                await self._wait()
        finally:
            self._dispatcher.recorded.remove(self._people.heard)
            self._dispatcher.following.remove(self._follow)
            self._engine.close()
            if self._preparing is not None:
                self._preparing.cancel()
            for task in (*self._work, *self._copying.values()):
                task.cancel()
            await asyncio.gather(*self._work, *self._copying.values(), return_exceptions=True)
            await self._beats.close()
        if self._people.aborted:
            return "aborted"
        if self._failed:
            return "failed_fast"
        if self._decided and not self._pacer.is_over:
            return "decided"
        return "finished" if self._pacer.is_over else "stopped"

    async def _wait(self) -> None:
        try:
            await asyncio.wait_for(self._changed.wait(), LOOK_S)
        except TimeoutError:
            if not self._dispatcher.is_alive:
                await self._dispatcher.submit()  # raises what it died of
            self._people.look_at_hosts()
        self._changed.clear()
        for task in [task for task in self._work if task.done()]:
            self._work.discard(task)
            try:
                task.result()
            except OSError as error:
                raise Unavailable(f"the eval cannot go on: {error}", "make room for it, and run it again") from error

    def _is_at_rest(self) -> bool:
        if self._followed:
            return False
        if self._people.leaves or self._people.stopped:
            return not any(run.in_flight for run in self._engine.runs_in_flight())
        if self._is_enough and not self._pacer.in_flight:
            self._mark_all(as_far_as_it_is=True)
            return not self._work
        return self._pacer.is_over and not self._work

    def _make_pacer(self, at_once: int) -> SessionPacer:
        over: list[SessionTurn] = []
        for trial in trials_of(self._spec):
            run = self._run_of(trial)
            for session in range(1, self._spec.sessions + 1):
                record = session_of(run, session)
                if is_over(record) and not ended_well(record):
                    over += [SessionTurn(trial, later) for later in range(session, self._spec.sessions + 1)]
                elif is_over(record):
                    over.append(SessionTurn(trial, session))
        self._onlooker.begins(len(over))
        return SessionPacer(units_of(self._spec), self._spec.sessions, at_once, over)

    async def _take_up(self) -> None:
        """What an earlier process left: scores on disk, and trials that ended without any."""
        for trial in trials_of(self._spec):
            scores = read_whole(self._layout.scores(trial), Scores)
            if scores is not None:
                self.scores[trial] = scores
                self._marked.add(trial)
        run = self._dispatcher.book.runs.get(self._manifest.id)
        if run is not None and eval_control_events.is_aborted(run):
            self._people.aborted = True
            await self._cancel_all()
        if self._spec.stop_when_decided and self.scores:
            self._decided = decided(self.record("stopped"))
        self._mark_all()

    async def _cancel_all(self) -> None:
        """What an abort was to stop when the process was killed."""
        names = [run_name(self._manifest.id, trial) for trial in trials_of(self._spec)]
        left = [name for name in names if name in self._dispatcher.book.runs]
        now = self._dispatcher.clock.now()
        await self._dispatcher.submit(*(CancelAsked(now, name, why="the eval was aborted") for name in left))

    # Sessions

    def _start_what_may(self) -> None:
        while self._wants_place and not self._people.held and self._pacer.take_place():
            self._wants_place.pop(0).set_result(None)
        if self._people.held or self._is_enough:
            return
        for turns in self._pacer.start():
            self._spawn(self._begin(turns))
        if self._preparing is None:
            self._preparing = asyncio.get_running_loop().call_later(CALM_S, self._prepare_what_is_next)

    @property
    def _is_enough(self) -> bool:
        """Nothing more is begun, and what has ended is reported."""
        return self._failed or self._people.aborted or self._decided

    async def _begin(self, turns: Sequence[SessionTurn]) -> None:
        await asyncio.gather(*(self._made_ready(turn) for turn in turns))
        if self._people.held or self._is_enough:
            for turn in turns:
                self._pacer.put_back(turn)
            return
        for event in self._events_of(turns):
            self._dispatcher.tell(event)

    def _events_of(self, turns: Sequence[SessionTurn]) -> list[Input]:
        """That hand these in; their ends are waited for from here on."""
        tasks = [(run_name(self._manifest.id, turn.trial), self._task(turn)) for turn in turns]
        for turn, future in zip(turns, self._engine.wait_for(*tasks), strict=True):
            future.add_done_callback(partial(self._on_ended, turn))
            self._beats.begins(*turn)
        return self._engine.events_of(*tasks)

    def _follow(self, happened: Sequence[Input]) -> list[Input]:
        """What starts in the place of what has just ended goes on disk together with that: there is one commit less
        between the two. Whatever is not as simple as that is left to `_start_what_may`."""
        if not any(isinstance(event, AttemptEnded) for event in happened) or self._people.is_asked_in(happened):
            return []
        for turn in list(self._pacer.in_flight):
            record = session_of(self._run_of(turn.trial), turn.session)
            if is_over(record):
                self._note_end(turn, ended_well(record))
                self._followed.add(turn)
        if self._people.held or self._is_enough or self._wants_place:
            return []
        events: list[Input] = []
        for turns in self._pacer.start():
            if all(self._is_ready(turn) for turn in turns):
                events += self._events_of(turns)
            else:
                self._spawn(self._begin(turns))
        return events

    def _is_ready(self, turn: SessionTurn) -> bool:
        copying = self._copying.get(turn.trial)
        return turn.session == 1 and copying is not None and copying.done() and copying.exception() is None

    def _task(self, turn: SessionTurn) -> Task:
        """As it was handed in before, if it was: what came since is not for it."""
        known = session_of(self._run_of(turn.trial), turn.session)
        return known.task if known is not None else self._sessions.task(*turn, injected=self._injected(turn.trial))

    def _injected(self, trial: Trial) -> tuple[Injection, ...]:
        return tuple(
            one
            for one in injections_of(self._dispatcher.book, self._manifest.id)
            if one.arm in ("", trial.arm) and one.case in ("", trial.case) and one.replication in (0, trial.replication)
        )

    def _on_ended(self, turn: SessionTurn, ended: "asyncio.Future[Record]") -> None:
        if ended.cancelled():
            return
        record = ended.result()
        self._note_end(turn, ended_well(record))
        self._followed.discard(turn)
        self._beats.ends(turn.trial, str(record.state))
        self._onlooker.ended(turn, record)
        self._mark_if_over(turn.trial.case, turn.trial.replication)
        self._changed.set()

    def _note_end(self, turn: SessionTurn, well: bool) -> None:
        self._pacer.ended(turn, well)
        if not well and self._manifest.fail_fast and not self._people.aborted:
            self._failed = True

    def _prepare(self, trial: Trial) -> asyncio.Task[None]:
        if trial not in self._copying:
            self._copying[trial] = asyncio.create_task(asyncio.to_thread(self._make_workspace, trial))
        return self._copying[trial]

    def _prepare_what_is_next(self) -> None:
        self._preparing = None
        for unit in self._pacer.soon(1 + self._pacer.at_once // len(self._spec.arms)):
            for trial in unit.trials:
                self._prepare(trial)

    def _make_workspace(self, trial: Trial) -> None:
        if not self._layout.workspace(trial).exists():
            copy_fresh(self._layout.case(trial.case), self._layout.workspace(trial))
        if self._spec.arm(trial.arm).run:  # its start is the faster the fewer directories it has to make
            place = attempt_directory(self._store, run_name(self._manifest.id, trial), session_id(1), 1)
            Path(place).mkdir(parents=True, exist_ok=True)

    async def _made_ready(self, turn: SessionTurn) -> None:
        if turn.session == 1:
            await self._prepare(turn.trial)
            return
        before = self._layout.before(turn.trial, turn.session)
        if not before.exists():
            await asyncio.to_thread(copy_fresh, self._layout.workspace(turn.trial), before)

    # Scores

    def _mark_if_over(self, case: str, replication: int, as_far_as_it_is: bool = False) -> None:
        """All arms together: a judge compares them."""
        trials = [Trial(arm.name, case, replication) for arm in self._spec.arms]
        states = {trial: self._state_of(trial) for trial in trials}
        if "missing" in states.values() and not as_far_as_it_is:
            return
        left = [trial for trial in trials if states[trial] == "scored" and trial not in self._marked]
        self._marked.update(left)
        if left:
            self._spawn(self._mark(left))

    def _mark_all(self, as_far_as_it_is: bool = False) -> None:
        for case in self._spec.cases:
            for replication in range(1, self._spec.replications + 1):
                self._mark_if_over(case.name, replication, as_far_as_it_is)

    async def _mark(self, trials: list[Trial]) -> None:
        await asyncio.sleep(CALM_S)
        for trial, scores in (await self._marking.mark(trials)).items():
            self.scores[trial] = scores
            self._onlooker.marked(trial, scores)
            for session in range(2, self._spec.sessions + 1):  # nothing is begun anew here any more
                await asyncio.to_thread(shutil.rmtree, self._layout.before(trial, session), ignore_errors=True)
        if self._spec.stop_when_decided and not self._decided and self._is_case_over(trials[0].case):
            self._decided = await asyncio.to_thread(decided, self.record("stopped"))

    def _is_case_over(self, case: str) -> bool:
        trials = [trial for trial in trials_of(self._spec) if trial.case == case]
        return all(trial in self.scores or self._state_of(trial) == "infrastructure" for trial in trials)

    def record(self, state: EvalState, warnings: Sequence[str] = ()) -> EvalRecord:
        told = (*warnings, self._people.given_up) if self._people.given_up else warnings
        now = self._dispatcher.clock.now()
        return record_of(self._manifest, self._dispatcher.book, self.scores, state, now, told)

    async def _carry_scorer(self, run: str, task: Task) -> Record:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wants_place.append(place)
        self._changed.set()
        await place
        try:
            return await self._engine.hand_in((run, task))[0]
        finally:
            self._pacer.give_place()
            self._changed.set()

    # Where things stand

    def _state_of(self, trial: Trial) -> TrialState:
        return state_of(self._run_of(trial), self._spec.sessions)

    def _run_of(self, trial: Trial) -> Run | None:
        return self._dispatcher.book.runs.get(run_name(self._manifest.id, trial))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(lambda _: self._changed.set())
