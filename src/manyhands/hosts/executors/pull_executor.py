"""Attempts that agents come for: nothing is started here. The executor waits for their work and checks it."""

import asyncio
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, ProcessSpawned
from manyhands.hosts.executors.in_flight import InFlight


class PullExecutor:
    """The lease of each attempt is in the book, so an attempt that is started here again continues."""

    def __init__(self, settings: ProcessSettings, spawned: ProcessSpawned, ended: Ended) -> None:
        self._steps = AttemptSteps(settings, spawned)
        self._in_flight = InFlight(self._end, settings.grace_s)
        self._ended = ended
        self._handed_in: dict[int, asyncio.Future[Ending]] = {}

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def hand_in(self, attempt: int, ending: Ending) -> None:
        """A layer may still be about to start the attempt here, so the ending is kept for it."""
        handed_in = self._awaited(attempt)
        if not handed_in.done():
            handed_in.set_result(ending)

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()

    def _awaited(self, attempt: int) -> asyncio.Future[Ending]:
        return self._handed_in.setdefault(attempt, asyncio.get_running_loop().create_future())

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if order.task.call:
            detail = f"task `{order.task.id}` is a function, which no agent can take; host `{order.host}` is for agents"
            return Ending(EndingKind.FAILED, detail, permanent=True)
        ending = await self._awaited(order.attempt)
        return await self._steps.checked(ending, order, directory)

    def _end(self, attempt: int, ending: Ending) -> None:
        self._handed_in.pop(attempt, None)
        self._ended(attempt, ending)
