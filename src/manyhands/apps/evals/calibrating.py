"""Runs the steps of `--concurrency auto` on the engine."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from manyhands.apps.evals.calibration import COMBINATIONS_MAX, SeenDurations, found, judge, next_n, rounds_at, seen
from manyhands.apps.evals.eval_tasks import EvalTasks
from manyhands.apps.evals.spec.eval_types import Calibration, Concurrency
from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_layout import EvalLayout
from manyhands.apps.evals.trial.eval_notes import EvalAborted, EvalPaused, note_in
from manyhands.apps.evals.trial.manifest import Manifest
from manyhands.apps.evals.trial.outcomes import ended_well
from manyhands.apps.evals.trial.trials import EvalTask, Sessions
from manyhands.apps.evals.workspaces import copy_fresh
from manyhands.concurrency import run_with_concurrency
from manyhands.core.events import AnyEvent, CancelAsked, RunDrained, RunNoted, RunStopped
from manyhands.core.values.provenance import CausedBy, Origin
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import Unavailable


class Calibrating:
    def __init__(
        self,
        dispatcher: Dispatcher,
        manifest: Manifest,
        layout: EvalLayout,
        says: Callable[[str], None],
        is_leaving: Callable[[], bool],
    ) -> None:
        self._dispatcher = dispatcher
        self._manifest = manifest
        self._spec = manifest.spec
        self._layout = layout
        self._says = says
        self._sessions = Sessions(manifest.spec, layout)
        self._engine = EvalTasks(dispatcher, manifest.id)
        self._stopped = is_leaving()
        self._go = 1  # an earlier process may have been stopped halfway
        while self._name(1, 0) in dispatcher.book.runs:
            self._go += 1

    async def find(self, most: int) -> Concurrency:
        self._dispatcher.recorded.append(self._heard)
        steps: list[Calibration] = []
        try:
            while (n := next_n(steps, most)) is not None:
                step = judge(n, await self._step(n), steps[0] if steps else None)
                steps.append(step)
                verdict = "accepted" if step.accepted else f"too many: {step.why}"
                self._says(f"{n} at once: p95 {step.p95_s:.2f}s (× {step.slow_down:.2f}) · {verdict}")
        finally:
            self._dispatcher.recorded.remove(self._heard)
            self._engine.close()
        return found(steps)

    async def _step(self, n: int) -> list[SeenDurations]:
        size = max(1, COMBINATIONS_MAX // len(self._spec.arms))
        combinations = [Trial(arm.name, case.name, 1) for case in self._spec.cases[:size] for arm in self._spec.arms]
        trials = combinations * rounds_at(n, len(combinations))
        thunks = [self._thunk(n, place, trial) for place, trial in enumerate(trials)]
        results = await run_with_concurrency(thunks, n, fail_fast=True)
        return [one for result in results if not isinstance(result, Exception) for one in result]

    def _thunk(self, n: int, place: int, trial: Trial) -> "Callable[[], asyncio.Future[list[SeenDurations]]]":
        return lambda: asyncio.ensure_future(self._try(n, place, trial))

    async def _try(self, n: int, place: int, trial: Trial) -> list[SeenDurations]:
        name = self._name(n, place)
        workspace = self._workspace(name)
        await asyncio.to_thread(copy_fresh, self._layout.case(trial.case), workspace)
        took: list[SeenDurations] = []
        for session in range(1, self._spec.sessions + 1):
            self._check_going()
            task = self._sessions.task(trial, session, workspace=str(workspace))
            record = await self._engine.hand_in(EvalTask(name, task, Origin.SESSION))[0]
            self._check_going()
            took.append(seen(record))
            if not ended_well(record):
                break
        return took

    def _check_going(self) -> None:
        if self._stopped:
            raise Unavailable(
                "stopped while looking for the concurrency", "run the same command again to look for it anew"
            )

    def _heard(self, batch: Sequence[AnyEvent]) -> None:
        for event in batch:
            if getattr(event, "run", "") == self._manifest.id and _is_stop(event):
                self._stopped = True
                for run in self._engine.runs_in_flight():
                    now = self._dispatcher.clock.now()
                    self._dispatcher.tell(CancelAsked(now, run.name, why="stopped", by=CausedBy.RUN))

    def _name(self, n: int, place: int) -> str:
        return f"{self._manifest.id}.calibration-{self._go}.{n}.{place}"

    def _workspace(self, name: str) -> Path:
        return self._layout.directory / "calibration" / name


def _is_stop(event: AnyEvent) -> bool:
    """Calibration cannot pause: its steps are compared with each other. It begins again another time."""
    if isinstance(event, RunNoted):
        return isinstance(note_in(event), EvalPaused | EvalAborted)
    return isinstance(event, RunDrained | RunStopped | CancelAsked)
