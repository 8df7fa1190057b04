"""Commands: an agent's command line or anything else, each in a process group of its own."""

import re
import time
from functools import partial
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.attempt_steps import LOG_FILE, AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Ended, Spawned
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.report_files import read_aside
from manyhands.hosts.executors.said_ending import as_printed, as_said
from manyhands.hosts.executors.usage import with_usage


class ShellSettings(ProcessSettings, frozen=True, kw_only=True):
    """What a shell host is built from."""

    overloaded: str = ""  # a pattern: output that has it means that the command was refused for lack of room


class ShellExecutor:
    def __init__(self, settings: ShellSettings, spawned: Spawned, ended: Ended) -> None:
        self._steps = AttemptSteps(settings, spawned)
        self._overloaded = re.compile(settings.overloaded) if settings.overloaded else None
        self._in_flight = InFlight(ended, settings.grace_s)

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if not order.task.run:
            return Ending(
                EndingKind.FAILED,
                f"task `{order.task.id}` has no `run`, and host `{order.host}` runs commands; give it one",
                permanent=True,
            )
        ending = await self._steps.run(order, directory, order.task.run)
        ending = await read_aside(partial(self._as_told, ending, directory))
        return await self._steps.checked(ending, order, directory)

    def _as_told(self, ending: Ending, directory: Path) -> Ending:
        """The ending with what the command wrote and printed of it."""
        log = directory / LOG_FILE
        ending = as_printed(with_usage(ending, directory, log), self._overloaded, log)
        return as_said(ending, directory, log, time.time())
