"""A file for each trial that says what it is doing, and when that was last true. A thread writes it."""

import asyncio
import os
from collections.abc import Callable

from manyhands.apps.evals.spec.ordering import Trial
from manyhands.apps.evals.trial.eval_layout import EvalLayout, write_whole
from manyhands.apps.evals.trial.trials import run_name

#: The heartbeat of a running trial is never older than this.
BEAT_S = 2.0


class Heartbeats:
    def __init__(self, layout: EvalLayout, now: Callable[[], float]) -> None:
        self._layout = layout
        self._now = now
        self._doing: dict[Trial, str] = {}  # of running trials
        self._to_write: dict[Trial, str] = {}
        self._task = asyncio.create_task(self._keep())

    def begins(self, trial: Trial, session: int) -> None:
        self._doing[trial] = self._to_write[trial] = f"session {session}"

    def ends(self, trial: Trial, how: str) -> None:
        self._to_write[trial] = f"{self._doing.pop(trial, 'session')} {how}"

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})
        await asyncio.to_thread(self._write, self._to_write, self._now())

    async def _keep(self) -> None:
        beat_at = self._now()
        while True:
            await asyncio.sleep(BEAT_S / 4)
            now = self._now()
            if now - beat_at >= BEAT_S * 3 / 4:
                beat_at = now
                self._to_write |= self._doing
            written, self._to_write = self._to_write, {}
            await asyncio.to_thread(self._write, written, now)

    def _write(self, doing: dict[Trial, str], now: float) -> None:
        for trial, what in doing.items():
            beat = {"run": run_name(self._layout.eval_id, trial), "doing": what, "at": now, "pid": os.getpid()}
            write_whole(self._layout.heartbeat(trial), beat, durable=False)
