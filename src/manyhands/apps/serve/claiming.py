"""Claims in a backlog: a task that others could take too is claimed there before its attempt starts."""

import asyncio
from collections.abc import Callable, Mapping

from manyhands.apps.serve.live_backlog import BacklogLog, LiveBacklog, TaskVerdict
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.core.values.provenance import Origin
from manyhands.errors import ManyhandsError
from manyhands.hosts.executors.layered_executor import RunInner
from manyhands.quantities import quantity

#: The pause after a claim that could be neither written nor refused: the file is locked, or the disk is full.
AGAIN_S = 2.0

#: Told that a task is not ours to run: (run, task, why). It must have the attempt stopped.
Refused = Callable[[str, str, str], None]


class Claimer:
    """Claims for one backlog. Claims asked for while one is being written are written together after it."""

    def __init__(self, backlog: LiveBacklog, run: str, wanted_at: Callable[[str], float], log: BacklogLog) -> None:
        self._backlog = backlog
        self._run = run
        self._wanted_at = wanted_at
        self._log = log
        self._waiting: dict[str, asyncio.Future[TaskVerdict]] = {}
        self._writing: asyncio.Task[None] | None = None

    async def claim(self, task: str) -> TaskVerdict:
        future = self._waiting.get(task)
        if future is None:
            future = self._waiting[task] = asyncio.get_running_loop().create_future()
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await asyncio.shield(future)

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, {}
                verdicts = await self._verdicts(list(batch))
                for (task, future), verdict in zip(batch.items(), verdicts, strict=True):
                    if verdict.holds:
                        self._log("wrote", "claim", task=task, run=self._run)
                    if not future.done():
                        future.set_result(verdict)
        finally:
            self._writing = None

    async def _verdicts(self, tasks: list[str]) -> list[TaskVerdict]:
        while True:
            try:
                wanted = {task: self._wanted_at(task) for task in tasks}
                return await asyncio.to_thread(self._backlog.claim, wanted)
            except ManyhandsError as error:
                self._log(
                    "problem", f"{quantity(len(tasks), 'task')} cannot be claimed yet: {error.message}", hint=error.hint
                )
                await asyncio.sleep(AGAIN_S)


class ClaimLayer:
    """Before an executor: an attempt starts once its task is claimed in the backlog."""

    def __init__(self, claimers: Mapping[str, Claimer], refused: Refused) -> None:
        self._claimers = claimers  # by run; tasks of other runs need no claim
        self._refused = refused

    def takes(self, order: StartAttempt) -> bool:
        return order.run in self._claimers and order.origin is not Origin.HAND

    async def carry(self, order: StartAttempt, directory: str, run: RunInner) -> Ending:
        verdict = await self._claimers[order.run].claim(order.task.id)
        if not verdict.holds:
            self._refused(order.run, order.task.id, verdict.why)
            await asyncio.Event().wait()  # until it is stopped: a refused task is cancelled
        return await run(order)
