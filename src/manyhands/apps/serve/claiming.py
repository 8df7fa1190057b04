"""An executor before the real one: a task that others could take too is taken in its backlog before it starts."""

import asyncio
from collections.abc import Callable, Mapping

from manyhands.apps.serve.live_backlog import LiveBacklog, Log, TaskVerdict
from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.engine.hand_added import ADDED
from manyhands.errors import ManyhandsError
from manyhands.hosts.executors.executor import Adopts, Ended, Executor

_STOPPED = Ending(EndingKind.CANCELLED, "stopped before it began")
#: After a claim that could not be written or refused: the file is locked, or the disk is full.
AGAIN_S = 2.0

#: Told that a task is not ours to run: (run, task, why).
Refused = Callable[[str, str, str], None]


class Claimer:
    """Claims for one backlog. What is asked for while a claim is being written goes with the next one, together."""

    def __init__(self, backlog: LiveBacklog, run: str, wanted_at: Callable[[str], float], log: Log) -> None:
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
                self._log("problem", f"{len(tasks)} tasks cannot be claimed yet: {error.message}", hint=error.hint)
                await asyncio.sleep(AGAIN_S)


class ClaimingExecutor:
    def __init__(
        self, inner: Executor, ended: Ended, claimers: Mapping[str, Claimer], refused: Refused, log: Log
    ) -> None:
        self._inner = inner
        self._ended = ended
        self._claimers = claimers  # by run; of the others nothing needs to be claimed
        self._refused = refused
        self._log = log
        self._claiming: dict[int, asyncio.Task[None]] = {}
        self._stopped: dict[int, asyncio.Event] = {}

    def start(self, order: StartAttempt, directory: str) -> None:
        claimer = self._claimers.get(order.run)
        if claimer is None or ADDED in order.task.labels:
            self._inner.start(order, directory)
            return
        self._stopped[order.attempt] = asyncio.Event()
        task = self._claiming[order.attempt] = asyncio.create_task(self._claim(claimer, order, directory))
        task.add_done_callback(lambda _: self._claiming.pop(order.attempt, None))

    async def _claim(self, claimer: Claimer, order: StartAttempt, directory: str) -> None:
        stopped = self._stopped[order.attempt]
        claim = asyncio.create_task(claimer.claim(order.task.id))
        stop = asyncio.create_task(stopped.wait())
        # A claim that is being written is waited for: only then is it known what the backlog says.
        await asyncio.wait({claim, stop}, return_when=asyncio.FIRST_COMPLETED)
        verdict = claim.result() if claim.done() else TaskVerdict(True)
        if not verdict.holds and not stopped.is_set():
            self._refused(order.run, order.task.id, verdict.why)
            await stop
        stop.cancel()
        claim.cancel()
        del self._stopped[order.attempt]
        if stopped.is_set():
            self._ended(order.attempt, _STOPPED)
        else:
            self._inner.start(order, directory)

    def adopt(self, attempt: int, directory: str) -> bool:
        return isinstance(self._inner, Adopts) and self._inner.adopt(attempt, directory)

    def release(self, attempt: int) -> None:
        self._inner.release(attempt)

    def stop(self, attempt: int) -> None:
        if attempt in self._stopped:
            self._stopped[attempt].set()
        else:
            self._inner.stop(attempt)

    async def close(self) -> None:
        for stopped in list(self._stopped.values()):
            stopped.set()
        while self._claiming:
            await asyncio.wait(list(self._claiming.values()))
        await self._inner.close()
