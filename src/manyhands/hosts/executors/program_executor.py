"""Calls functions that live in this process: those of a Python program that has a dispatcher of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, ProcessSpawned
from manyhands.hosts.executors.function import RESULT_FILE, describe_error
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.output_text import keep_result

#: Does the work of one attempt. Returns the result as it is stored, "" for none.
ProgramWork = Callable[[StartAttempt, str], Awaitable[str]]
#: The work that the program has for this order. None: it has none now.
WorkFor = Callable[[StartAttempt], ProgramWork | None]


class ProgramExecutor:
    """Attempts are tasks of the dispatcher's own loop. Work that ignores a cancellation is waited for."""

    def __init__(self, work_for: WorkFor, settings: ProcessSettings, spawned: ProcessSpawned, ended: Ended) -> None:
        self._work_for = work_for
        self._steps = AttemptSteps(settings, spawned)
        self._in_flight = InFlight(ended, settings.grace_s)

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, directory))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()

    async def _carry(self, order: StartAttempt, directory: str) -> Ending:
        work = self._work_for(order)
        if work is None:
            detail = f"task `{order.task.id}` is a call of a Python program, which is not at it; run the program again"
            return Ending(EndingKind.FAILED, detail, permanent=True)
        try:
            text = await work(order, directory)
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:  # also SystemExit: a function must not end the loop
            return describe_error(error).ending()
        checked = bool(order.task.check)
        if not text and not checked:
            return DONE
        place = Path(directory)
        ending = Ending(EndingKind.DONE, result=keep_result(text, place, RESULT_FILE, always=checked))
        return await self._steps.checked(ending, order, place, place.absolute() / RESULT_FILE)  # noqa: ASYNC240
