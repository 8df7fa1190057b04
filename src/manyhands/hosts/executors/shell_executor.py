"""Commands: an agent's command line or anything else, each in a process group of its own."""

import time
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.executors.asking import AskDesk
from manyhands.hosts.executors.attempt_steps import LOG_FILE, AttemptSteps, ProcessSettings
from manyhands.hosts.executors.executor import Asked, Ended, ProcessSpawned
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.output_text import ANSWER_BYTES_MAX, ANSWER_FILE
from manyhands.hosts.executors.reading_aside import read_aside
from manyhands.hosts.executors.said_ending import as_printed, as_said
from manyhands.hosts.executors.usage import with_usage
from manyhands.readers.plain_file import read_plain, write_plain


class ShellSettings(ProcessSettings, frozen=True, kw_only=True):
    """What a shell host is built from."""


class ShellExecutor:
    def __init__(
        self,
        settings: ShellSettings,
        spawned: ProcessSpawned,
        ended: Ended,
        asked: Asked = lambda attempt, question: None,
    ) -> None:
        self._desk = AskDesk(asked)
        self._steps = AttemptSteps(settings, spawned)
        self._overloaded = settings.overloaded
        self._in_flight = InFlight(ended, settings.grace_s)

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    def answer(self, attempt: int, words: str) -> None:
        self._desk.answer(attempt, words)

    async def close(self) -> None:
        await self._in_flight.close()

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if not order.task.run:
            return Ending(
                EndingKind.FAILED,
                f"task `{order.task.id}` has no `run`, and host `{order.host}` runs commands; give it one",
                permanent=True,
            )
        with self._desk.watching(order, directory):
            ending = await self._steps.run(order, directory, order.task.run)
        answer = directory.absolute() / ANSWER_FILE if order.task.save else None  # noqa: ASYNC240
        ending = await read_aside(partial(self._as_told, ending, directory, answer))
        return await self._steps.checked(ending, order, directory, answer)

    def _as_told(self, ending: Ending, directory: Path, answer: Path | None) -> Ending:
        """The ending with what the command wrote and printed of it. What it printed is its answer, if one is wanted."""
        log = directory / LOG_FILE
        if answer is not None and ending.kind is EndingKind.DONE:
            try:
                write_plain(answer, read_plain(log, ANSWER_BYTES_MAX))
            except OSError as error:
                detail = f"what it printed cannot be saved: {error.strerror}"
                return replace(ending, kind=EndingKind.FAILED, detail=detail)
        ending = as_printed(with_usage(ending, directory, log), self._overloaded, log)
        return as_said(ending, directory, log, time.time())
