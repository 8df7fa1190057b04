"""Runs agents. Each attempt is one run of the agent, or continues its last conversation."""

import logging
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.agent_driving import AgentDriver
from manyhands.hosts.agents.agent_sessions import KeptSession, earlier_session
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_watch import AgentCalls
from manyhands.hosts.agents.landlock import landlock_version
from manyhands.hosts.agents.program_driver import ProgramDriver
from manyhands.hosts.agents.resuming import is_to_resume
from manyhands.hosts.executors.asking import AskDesk
from manyhands.hosts.executors.attempt_steps import LOG_FILE, AttemptSteps, CannotStart, working_directory
from manyhands.hosts.executors.executor import Asked, Ended, ProcessSpawned, Retried, Showed
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.output_text import one_line, tail_of
from manyhands.hosts.executors.reading_aside import read_aside
from manyhands.hosts.executors.said_ending import as_said

_log = logging.getLogger(__name__)

ACP = "acp"  # the name of agents that speak the Agent Client Protocol


class AgentExecutor:
    def __init__(
        self,
        settings: AgentSettings,
        spawned: ProcessSpawned,
        ended: Ended,
        showed: Showed = lambda attempt: None,
        retried: Retried = lambda attempt: None,
        asked: Asked = lambda attempt, question: None,
    ) -> None:
        self._desk = AskDesk(asked)
        self._settings = settings
        self._steps = AttemptSteps(settings, spawned)
        self._driver = self._make_driver(spawned, AgentCalls(showed, retried, self._desk.is_open, self._desk.ask))
        self._in_flight = InFlight(ended, settings.grace_s)
        if settings.confine != "off" and not landlock_version():
            _log.warning(
                '%s runs unconfined: this kernel has no Landlock; `confine = "off"` says so too',
                settings.agent or settings.run[0],
            )

    def _make_driver(self, spawned: ProcessSpawned, calls: AgentCalls) -> AgentDriver:
        if self._settings.agent != ACP:
            return ProgramDriver(self._settings, self._steps, calls)
        from manyhands.hosts.agents.acp_driver import AcpDriver  # with a library that is not always installed

        return AcpDriver(self._settings, self._steps.census, spawned, calls)

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)
        self._driver.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    def answer(self, attempt: int, words: str) -> None:
        self._desk.answer(attempt, words)

    async def close(self) -> None:
        await self._in_flight.close()
        await self._driver.close()

    async def _carry(self, order: StartAttempt, directory: Path) -> Ending:
        if order.task.run:  # the check of what landed: a command that runs as this task
            return await self._steps.run(order, directory, order.task.run)
        if not order.task.prompt:
            return Ending(
                EndingKind.FAILED,
                f"task `{order.task.id}` has no `prompt`, and host `{order.host}` is an agent; give it one",
                permanent=True,
            )
        directory = directory.absolute()  # noqa: ASYNC240
        try:
            place = str(working_directory(self._settings, order.task))
            directory.mkdir(parents=True, exist_ok=True)
        except CannotStart as refused:
            return refused.ending
        resumed = self._session_for(order, directory, place)
        run = self._driver.run(order, directory, place)
        with self._desk.watching(order, directory, hears=not self._driver.resumes):
            ending = await run.carry_out(resumed)
            if run.watch.has_forgotten(ending):  # then it begins a new conversation
                run = self._driver.run(order, directory, place)
                ending = await run.carry_out(None)
        log = directory / LOG_FILE
        ending = await read_aside(partial(as_said, ending, directory, log, time.time()))
        denied = () if order.task.check else run.watch.denied
        ending = await self._steps.checked(self._with_advice(ending, denied), order, directory)
        return replace(ending, tail=tail_of(log))

    def _with_advice(self, ending: Ending, denied: Collection[str]) -> Ending:
        """What a person can do about it. An agent that was denied something has not done all it wanted."""
        advice = self._driver.advice
        match ending.kind:
            case EndingKind.DONE if denied:
                detail = f"it was not allowed to do all it wanted ({', '.join(denied)}); {advice.denied}"
                return replace(ending, kind=EndingKind.FAILED, detail=one_line(detail), needs_person=True)
            case EndingKind.OVERLOADED if ending.needs_person and not ending.quota:
                return replace(ending, detail=f"{ending.detail}; {advice.auth}")
            case (
                EndingKind.DONE
                | EndingKind.OVERLOADED
                | EndingKind.FAILED
                | EndingKind.TIMED_OUT
                | EndingKind.CANCELLED
                | EndingKind.PREEMPTED
                | EndingKind.LOST
            ):
                return ending
            case kind:
                assert_never(kind)

    def _session_for(self, order: StartAttempt, directory: Path, place: str) -> KeptSession | None:
        driver = self._driver
        if not driver.resumes or order.number == 1 or not is_to_resume(order):
            return None
        session = earlier_session(directory, order.number)
        if session is None or session.agent != driver.name:
            return None
        return session if session.directory == place or not driver.same_directory else None
