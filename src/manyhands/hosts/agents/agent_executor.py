"""Runs agents. Each attempt is one run of the agent, or continues its last conversation."""

import logging
import time
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.agent_driving import AgentDriver
from manyhands.hosts.agents.agent_sessions import KeptSession, earlier_session
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.landlock import landlock_version
from manyhands.hosts.agents.program_driver import ProgramDriver
from manyhands.hosts.agents.resuming import is_to_resume
from manyhands.hosts.executors.attempt_steps import LOG_FILE, AttemptSteps, CannotStart, working_directory
from manyhands.hosts.executors.executor import Ended, Showed, Spawned
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.output_text import tail_of
from manyhands.hosts.executors.report_files import read_aside
from manyhands.hosts.executors.said_ending import as_said

_log = logging.getLogger(__name__)

ACP = "acp"  # the name of agents that speak the Agent Client Protocol


class AgentExecutor:
    def __init__(
        self, settings: AgentSettings, spawned: Spawned, ended: Ended, showed: Showed = lambda attempt: None
    ) -> None:
        self._settings = settings
        self._steps = AttemptSteps(settings, spawned)
        self._driver = self._make_driver(spawned, showed)
        self._in_flight = InFlight(ended, settings.grace_s)
        if settings.confine != "off" and not landlock_version():
            _log.warning(
                '%s runs unconfined: this kernel has no Landlock; `confine = "off"` says so too', settings.agent
            )

    def _make_driver(self, spawned: Spawned, showed: Showed) -> AgentDriver:
        if self._settings.agent != ACP:
            return ProgramDriver(self._settings, self._steps, showed)
        from manyhands.hosts.agents.acp_driver import AcpDriver  # with a library that is not always installed

        return AcpDriver(self._settings, self._steps.census, spawned, showed)

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)
        self._driver.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

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
        ending = await run.carry_out(resumed)
        if run.watch.has_forgotten(ending):  # then it begins a new conversation
            run = self._driver.run(order, directory, place)
            ending = await run.carry_out(None)
        log = directory / LOG_FILE
        ending = await read_aside(partial(as_said, ending, directory, log, time.time()))
        if ending.kind is EndingKind.DONE and run.watch.denied and not order.task.check:
            detail = f"it was not allowed to do all it wanted: {', '.join(run.watch.denied)}"
            ending = replace(ending, kind=EndingKind.FAILED, detail=detail, needs_person=True)
        ending = await self._steps.checked(ending, order, directory)
        return replace(ending, tail=tail_of(log))

    def _session_for(self, order: StartAttempt, directory: Path, place: str) -> KeptSession | None:
        driver = self._driver
        if not driver.resumes or order.number == 1 or not is_to_resume(order.last):
            return None
        session = earlier_session(directory, order.number)
        if session is None or session.agent != driver.name:
            return None
        return session if session.directory == place or not driver.same_directory else None
