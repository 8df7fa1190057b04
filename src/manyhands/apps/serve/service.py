"""`manyhands serve` without its command line: several backlogs on one dispatcher, until it is told to stop."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from manyhands.apps.serve.claiming import Claimer, ClaimLayer
from manyhands.apps.serve.desk import Desk
from manyhands.apps.serve.live_backlog import BacklogLog, LiveBacklog, unwanted
from manyhands.apps.serve.watching import POLL_S, Changed, watch
from manyhands.core.events import AnyEvent, Input, RunResumed, RunStopped
from manyhands.core.values.provenance import Purpose
from manyhands.engine.dispatcher import Dispatcher
from manyhands.errors import UsageError

#: How soon a dead dispatcher is noticed. Only its own error tells.
_PULSE_S = 2.0


class Service:
    """Made before its dispatcher: `open_session(config, service.layer)`, then `serve`."""

    def __init__(self, backlogs: Sequence[LiveBacklog], log: BacklogLog, poll_s: float = POLL_S) -> None:
        sources = [backlog.source for backlog in backlogs]
        for place, source in enumerate(sources):
            if source in sources[:place]:
                raise UsageError(f"backlog `{source}` is given twice", "name it once; its `weight` may be more than 1")
        self._backlogs = backlogs
        self._log = log
        self._poll_s = poll_s
        self._claimers: dict[str, Claimer] = {}  # by run
        self._desks: list[Desk] = []
        self._dispatcher: Dispatcher | None = None

    @property
    def layer(self) -> ClaimLayer:
        """The layer before every executor of the dispatcher."""
        return ClaimLayer(self._claimers, self._refused)

    def _refused(self, run: str, task: str, why: str) -> None:
        assert self._dispatcher is not None
        self._log("refused", f"claim: {why}", task=task, run=run)
        now = self._dispatcher.clock.now()
        self._dispatcher.tell(unwanted(now, run, task, f"it {why}"))

    async def serve(self, dispatcher: Dispatcher, stop: asyncio.Event) -> None:
        """Serve until `stop` is set. Then stop running attempts and release claims; the next start continues."""
        self._dispatcher = dispatcher
        for backlog in self._backlogs:
            desk = Desk(backlog, dispatcher, self._log, self._runs)
            self._desks.append(desk)
            if backlog.claims:
                self._claimers[desk.run] = Claimer(backlog, desk.run, desk.wanted_at, self._log)
        dispatcher.recorded.append(self._recorded)
        await self._resume_added(dispatcher)
        workers = [asyncio.create_task(desk.work()) for desk in self._desks]
        workers.append(asyncio.create_task(watch(self._files(), self._log, self._poll_s)))
        workers.append(asyncio.create_task(_pulse(dispatcher)))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({stopping, *workers}, return_when=asyncio.FIRST_COMPLETED)
            for worker in workers:
                if worker.done():
                    worker.result()  # raises its error: no worker ends by itself
        finally:
            stopping.cancel()
            await _cancelled(workers)
            for desk in self._desks:
                desk.close()
        await self._stop(dispatcher)

    def _runs(self) -> list[str]:
        return [desk.run for desk in self._desks]

    def _recorded(self, batch: Sequence[AnyEvent]) -> None:
        for desk in self._desks:
            desk.recorded(batch)

    async def _resume_added(self, dispatcher: Dispatcher) -> None:
        now = dispatcher.clock.now()
        runs = [run.name for run in dispatcher.book.runs.values() if run.purpose is Purpose.HAND and run.unfinished]
        if runs:
            await dispatcher.submit(*(RunResumed(now, run) for run in runs))

    def _files(self) -> dict[Path, Changed]:
        return {file: desk.look for desk in self._desks for file in desk.backlog.watched()}

    async def _stop(self, dispatcher: Dispatcher) -> None:
        runs = [run.name for run in dispatcher.book.runs.values() if not run.draining]
        self._log("stopping", f"{len(dispatcher.book.running)} in flight")
        now = dispatcher.clock.now()
        stopped: list[Input] = [RunStopped(now, run) for run in runs]
        await dispatcher.submit(*stopped)
        for run in runs:
            await dispatcher.wait_settled(run)
        for desk in self._desks:
            await desk.compare(last=True)
        self._log("stopped", "unfinished tasks continue at the next start")


async def _pulse(dispatcher: Dispatcher) -> None:
    while True:
        await asyncio.sleep(_PULSE_S)
        await dispatcher.submit()


async def _cancelled(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
