"""Agents that are programs which print what they do: each attempt is one run of the program."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.adapter import Adapter, Errand
from manyhands.hosts.agents.agent_files import PROMPT_FILE, SAYING_FILE
from manyhands.hosts.agents.agent_listener import AgentListener
from manyhands.hosts.agents.agent_record import AgentRecord
from manyhands.hosts.agents.agent_sessions import KeptSession
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_watch import AgentWatch
from manyhands.hosts.agents.confinement import confined, make_own_places, rights_for
from manyhands.hosts.agents.described_agent import KNOWN, described
from manyhands.hosts.agents.resuming import what_to_say
from manyhands.hosts.agents.silence import silent_for
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessStreams
from manyhands.hosts.executors.executor import Showed
from manyhands.readers.plain_file import write_plain


class ProgramDriver:
    def __init__(self, settings: AgentSettings, steps: AttemptSteps, showed: Showed) -> None:
        adapter = KNOWN[settings.agent] if settings.agent else described(settings.run, settings.reads)
        self.name = adapter.name
        self.resumes = adapter.resumes
        self.same_directory = adapter.same_directory
        self._settings = settings
        self._adapter = adapter
        self._steps = steps
        self._showed = showed

    def run(self, order: StartAttempt, directory: Path, place: str) -> "ProgramRun":
        return ProgramRun(self._settings, self._adapter, self._steps, order, directory, place, self._showed)

    def release(self, attempt: int) -> None:
        """Its processes are those of the attempt's steps, which are released there."""

    async def close(self) -> None:
        pass


class ProgramRun:
    def __init__(
        self,
        settings: AgentSettings,
        adapter: Adapter,
        steps: AttemptSteps,
        order: StartAttempt,
        directory: Path,
        place: str,
        showed: Showed,
    ) -> None:
        self.watch = AgentWatch(settings, order, directory, place, showed, agent=adapter.name, resumes=adapter.resumes)
        self._settings = settings
        self._adapter = adapter
        self._steps = steps
        self._order = order
        self._directory = directory
        self._place = place

    async def carry_out(self, resumed: KeptSession | None) -> Ending:
        self.watch.resumed = resumed
        record = AgentRecord(self._directory, self.watch.heard)
        self.watch.remark = record.remark
        listener = AgentListener(record, self._adapter.reader(), self.watch.moment)
        ended = Ending(EndingKind.FAILED, "it was not started")
        silence = asyncio.create_task(self._watch_silence(record))
        # Its own directory, with a short path: a socket's path may have about a hundred bytes.
        temporary = Path(tempfile.mkdtemp(prefix="mh-"))
        try:
            process = asyncio.create_task(self._run(listener, record, temporary))
            self.watch.end = process.cancel
            ended = await process
        finally:
            silence.cancel()
            shutil.rmtree(temporary, ignore_errors=True)
            listener.close(ended.exit_code if ended.exit_code is not None else -1)
            record.close()
        return self.watch.ending(ended, record.tally)

    async def _run(self, listener: AgentListener, record: AgentRecord, temporary: Path) -> Ending:
        settings, resumed = self._settings, self.watch.resumed
        prompt_file = self._directory / (PROMPT_FILE if resumed is None else SAYING_FILE)
        prompt = self._order.task.prompt if resumed is None else what_to_say(self._order.last)
        write_plain(prompt_file, prompt.encode(errors="replace"))
        errand = Errand(
            prompt_file=str(prompt_file),
            program=settings.run if settings.agent else (),
            model=settings.model,
            args=settings.args,
            session="" if resumed is None else resumed.id,
            directory=self._place,
            turns=settings.limits.turns,
            cost=settings.limits.cost,
        )
        env = {**os.environ, **settings.env, **(self._order.task.env or {}), "TMPDIR": str(temporary)}
        make = None
        if settings.confine != "off":
            own = make_own_places(self._adapter.own, Path(env.get("HOME", "/")))
            own += [self._directory, temporary]
            rights = rights_for(settings.confine, self._order.task, Path(self._place), own, env, settings.hide)
            make = confined(rights)
        launch = self._adapter.launch(replace(errand, confined=make is not None))
        streams = ProcessStreams(
            input=str(prompt_file) if launch.by_stdin else os.devnull,
            output=listener.output,
            errors=record.errors,
            env={**launch.env, "TMPDIR": str(temporary)},
            make=make,
        )
        return await self._steps.run(self._order, self._directory, launch.argv, streams=streams)

    async def _watch_silence(self, record: AgentRecord) -> None:
        idle_s = self._settings.idle_s
        if idle_s <= 0:
            return
        await silent_for(idle_s, lambda: record.last_at, lambda: self._steps.family(self._order.attempt))
        self.watch.was_silent()
