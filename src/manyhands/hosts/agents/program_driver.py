"""Agents that are programs which print what they do: each attempt is one run of the program."""

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.adapter import Adapter, Errand
from manyhands.hosts.agents.agent_files import SAYING_FILE
from manyhands.hosts.agents.agent_listener import AgentListener
from manyhands.hosts.agents.agent_record import AgentRecord
from manyhands.hosts.agents.agent_sessions import KeptSession
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_watch import AgentCalls, AgentWatch
from manyhands.hosts.agents.confinement import SHARED_PLACES, confined, is_in_git, make_own_places, rights_for
from manyhands.hosts.agents.described_agent import KNOWN, described
from manyhands.hosts.agents.litter import Litter
from manyhands.hosts.agents.own_homes import OwnHomes
from manyhands.hosts.agents.resuming import what_to_do, what_to_say
from manyhands.hosts.agents.settings_files import with_settings
from manyhands.hosts.agents.silence import silent_for
from manyhands.hosts.executors.asking import resuming_variables
from manyhands.hosts.executors.attempt_steps import AttemptSteps, ProcessStreams
from manyhands.readers.plain_file import write_plain


class ProgramDriver:
    def __init__(self, settings: AgentSettings, steps: AttemptSteps, calls: AgentCalls) -> None:
        adapter = KNOWN[settings.agent] if settings.agent else described(settings.run, settings.reads)
        self.advice = adapter.advice
        self.name = adapter.name
        self.resumes = adapter.resumes
        self.same_directory = adapter.same_directory
        self._settings = settings
        self._adapter = adapter
        self._steps = steps
        self._calls = calls
        self._homes = None if settings.homes is None else OwnHomes(settings.homes, adapter.own)

    def run(self, order: StartAttempt, directory: Path, place: str) -> "ProgramRun":
        run = ProgramRun(self._settings, self._adapter, self._steps, order, directory, place, self._calls)
        run.homes = self._homes
        return run

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
        calls: AgentCalls,
    ) -> None:
        self.watch = AgentWatch(settings, order, directory, place, calls, agent=adapter.name, resumes=adapter.resumes)
        self.homes: OwnHomes | None = None  # None: all attempts share the person's
        self._calls = calls
        self._settings = settings
        self._adapter = adapter
        self._steps = steps
        self._order = order
        self._directory = directory
        self._place = place

    async def carry_out(self, resumed: KeptSession | None) -> Ending:
        if self.homes is None:
            return await self._carry_out(None if resumed is not None and resumed.home else resumed)
        env = {**os.environ, **self._settings.env, **(self._order.task.env or {})}
        if resumed is not None and not self.homes.is_free(resumed.home):
            resumed = None  # another attempt has the home where that conversation is
        try:
            home = self.homes.take(Path(env.get("HOME", "/")), "" if resumed is None else resumed.home)
        except OSError as error:
            return Ending(EndingKind.FAILED, f"it cannot get a home of its own: {error}")
        self.watch.home = str(home)
        try:
            return await self._carry_out(resumed)
        finally:
            self.homes.give_back(home)

    async def _carry_out(self, resumed: KeptSession | None) -> Ending:
        self.watch.resumed = resumed
        record = AgentRecord(self._directory, self.watch.heard)
        self.watch.remark = record.remark
        listener = AgentListener(record, self._adapter.reader(), self.watch.moment)
        ended = Ending(EndingKind.FAILED, "it was not started")
        silence = asyncio.create_task(self._watch_silence(record))
        # Its own directory, with a short path: a socket's path may have about a hundred bytes.
        temporary = Path(tempfile.mkdtemp(prefix="mh-"))
        litter = Litter(Path(self._place), self._adapter.litter)
        try:
            process = asyncio.create_task(self._run(listener, record, temporary))
            self.watch.end = process.cancel
            ended = await process
        finally:
            silence.cancel()
            shutil.rmtree(temporary, ignore_errors=True)
            litter.remove()
            listener.close(ended.exit_code if ended.exit_code is not None else -1)
            record.close()
            self.watch.close()
        return self.watch.ending(ended, record.tally)

    async def _run(self, listener: AgentListener, record: AgentRecord, temporary: Path) -> Ending:
        settings, resumed = self._settings, self.watch.resumed
        prompt_file = self._directory / SAYING_FILE
        prompt = what_to_do(self._order, has_means=True) if resumed is None else what_to_say(self._order)
        write_plain(prompt_file, prompt.encode(errors="replace"))
        errand = Errand(
            prompt_file=str(prompt_file),
            program=settings.run if settings.agent else (),
            model=settings.model,
            args=settings.args,
            session="" if resumed is None else resumed.id,
            directory=self._place,
            in_git=is_in_git(Path(self._place)),
            turns=self.watch.limits.turns,
            cost=self.watch.limits.cost,
        )
        env = {**os.environ, **settings.env, **(self._order.task.env or {}), "TMPDIR": str(temporary)}
        own = [self._directory, temporary]
        at_home: dict[str, str] = {}
        if self.watch.home:
            at_home = {"HOME": self.watch.home}
            own += [Path(env.get("HOME", "/"), place) for place in SHARED_PLACES]
        env |= at_home
        make = None
        if settings.confine != "off":
            own += make_own_places(self._adapter.own, Path(env.get("HOME", "/")))
            rights = rights_for(settings.confine, self._order.task, Path(self._place), own, env, settings.hide)
            make = confined(rights)
        launch = self._adapter.launch(replace(errand, confined=make is not None))
        told = with_settings(self._adapter.settings, self._directory, env)
        streams = ProcessStreams(
            input=str(prompt_file) if launch.by_stdin else os.devnull,
            output=listener.output,
            errors=listener.errors,
            env=launch.env,
            own_env={"TMPDIR": str(temporary), **at_home, **told, **resuming_variables(self._adapter.resumes)},
            make=make,
        )
        return await self._steps.run(self._order, self._directory, launch.argv, streams=streams)

    async def _watch_silence(self, record: AgentRecord) -> None:
        if self._settings.idle_s <= 0:
            return
        watch, attempt = self.watch, self._order.attempt
        await silent_for(
            lambda: watch.may_be_silent_s(record.tally.tools_running > 0),
            lambda: time.monotonic() if self._calls.is_asking(attempt) else record.last_at,
            lambda: self._steps.family(attempt),
            watch.saw_life,
        )
        watch.was_silent(record.tally, record.tally.tools_running > 0)
