"""Runs agent programs. Each attempt is one run of the program, or continues its last conversation."""

import asyncio
import datetime
import logging
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.hosts.agents.adapter import Adapter, Errand, LineMoment
from manyhands.hosts.agents.agent_events import AgentEvent, AgentSession, Closed, Does, Says
from manyhands.hosts.agents.agent_files import ERRORS_FILE
from manyhands.hosts.agents.agent_listener import AgentListener
from manyhands.hosts.agents.agent_sessions import KeptSession, earlier_session, keep_session
from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.confinement import Confine, confined, make_own_places, rights_for
from manyhands.hosts.agents.described_agent import KNOWN, described
from manyhands.hosts.agents.landlock import landlock_version
from manyhands.hosts.agents.refusal_texts import refusal
from manyhands.hosts.agents.resuming import is_to_resume, what_to_say
from manyhands.hosts.agents.silence import silent_for
from manyhands.hosts.executors.attempt_steps import (
    LOG_FILE,
    AttemptSteps,
    CannotStart,
    ProcessSettings,
    ProcessStreams,
    working_directory,
)
from manyhands.hosts.executors.executor import Ended, Showed, Spawned
from manyhands.hosts.executors.in_flight import InFlight
from manyhands.hosts.executors.output_text import last_line, one_line, tail_of
from manyhands.hosts.executors.report_files import read_aside
from manyhands.hosts.executors.said_ending import as_said
from manyhands.readers.plain_file import open_plain, write_plain
from manyhands.sources.config.agent_config import AgentLimits

_log = logging.getLogger(__name__)

PROMPT_FILE = "prompt.txt"
SAYING_FILE = "said.txt"  # what a resumed conversation is told


class AgentSettings(ProcessSettings, frozen=True, kw_only=True):
    """What an agent host is built from."""

    agent: str  # a known one, or "" with `run` and `reads`
    run: tuple[str, ...] = ()  # the program and its first arguments
    reads: str = ""
    model: str = ""
    args: tuple[str, ...] = ()
    idle_s: float = 900.0
    limits: AgentLimits = AgentLimits()
    confine: Confine = "workspace"
    hide: tuple[str, ...] = ()  # from reading


class AgentExecutor:
    def __init__(
        self, settings: AgentSettings, spawned: Spawned, ended: Ended, showed: Showed = lambda attempt: None
    ) -> None:
        self._settings = settings
        self._showed = showed
        self._adapter = KNOWN[settings.agent] if settings.agent else described(settings.run, settings.reads)
        self._steps = AttemptSteps(settings, spawned)
        self._in_flight = InFlight(ended, settings.grace_s)
        if settings.confine != "off" and not landlock_version():
            _log.warning(
                '%s runs unconfined: this kernel has no Landlock; `confine = "off"` says so too', settings.agent
            )

    def start(self, order: StartAttempt, directory: str) -> None:
        self._in_flight.start(order.attempt, self._carry(order, Path(directory)))

    def release(self, attempt: int) -> None:
        self._steps.release(attempt)

    def stop(self, attempt: int) -> None:
        self._in_flight.stop(attempt)

    async def close(self) -> None:
        await self._in_flight.close()

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
        run = _AgentRun(self._settings, self._adapter, self._steps, order, directory, place, self._showed)
        ending = await run.carry_out(resumed)
        if resumed is not None and not run.began and _is_failure(ending):
            # The program no longer knows that conversation, so it begins a new one.
            run = _AgentRun(self._settings, self._adapter, self._steps, order, directory, place, self._showed)
            ending = await run.carry_out(None)
        log = directory / LOG_FILE
        ending = await read_aside(partial(as_said, ending, directory, log, time.time()))
        if ending.kind is EndingKind.DONE and run.denied and not order.task.check:
            detail = f"it was not allowed to do all it wanted: {', '.join(run.denied)}"
            ending = replace(ending, kind=EndingKind.FAILED, detail=detail, needs_person=True)
        ending = await self._steps.checked(ending, order, directory)
        return replace(ending, tail=tail_of(log))

    def _session_for(self, order: StartAttempt, directory: Path, place: str) -> KeptSession | None:
        adapter = self._adapter
        if not adapter.resumes or order.number == 1 or not is_to_resume(order.last):
            return None
        session = earlier_session(directory, order.number)
        if session is None or session.agent != adapter.name:
            return None
        return session if session.directory == place or not adapter.same_directory else None


def _is_failure(ending: Ending) -> bool:
    return ending.kind is EndingKind.FAILED


class _AgentRun:
    """One run of the program for an attempt."""

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
        self._showed = showed
        self._has_shown = False
        self.began = False  # it has said something
        self.denied: list[str] = []
        self._settings = settings
        self._adapter = adapter
        self._steps = steps
        self._order = order
        self._directory = directory
        self._place = place
        self._resumed: KeptSession | None = None
        self._zone = _zone({**settings.env, **(order.task.env or {})}.get("TZ") or os.environ.get("TZ"))
        self._process: asyncio.Task[Ending] | None = None
        self._stopped_by = ""  # the limit that it reached
        self._was_silent = False
        self._doings = 0
        self._temporary = Path()

    async def carry_out(self, resumed: KeptSession | None) -> Ending:
        self._resumed = resumed
        listener = AgentListener(self._directory, self._adapter.reader(), self._moment, self._heard)
        process = Ending(EndingKind.FAILED, "it was not started")
        silence = asyncio.create_task(self._watch_silence(listener))
        # Its own directory, with a short path: a socket's path may have about a hundred bytes.
        self._temporary = Path(tempfile.mkdtemp(prefix="mh-"))
        try:
            self._process = asyncio.create_task(self._run(listener))
            process = await self._process
        finally:
            silence.cancel()
            shutil.rmtree(self._temporary, ignore_errors=True)
            listener.close(process.exit_code if process.exit_code is not None else -1)
        return self._ending(process, listener.tally)

    async def _run(self, listener: AgentListener) -> Ending:
        settings, resumed = self._settings, self._resumed
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
        env = {**os.environ, **settings.env, **(self._order.task.env or {}), "TMPDIR": str(self._temporary)}
        make = None
        if settings.confine != "off":
            own = make_own_places(self._adapter.own, Path(env.get("HOME", "/")))
            own += [self._directory, self._temporary]
            rights = rights_for(settings.confine, self._order.task, Path(self._place), own, env, settings.hide)
            make = confined(rights)
        launch = self._adapter.launch(replace(errand, confined=make is not None))
        streams = ProcessStreams(
            input=str(prompt_file) if launch.by_stdin else os.devnull,
            output=listener.output,
            errors=listener.errors,
            env={**launch.env, "TMPDIR": str(self._temporary)},
            make=make,
        )
        return await self._steps.run(self._order, self._directory, launch.argv, streams=streams)

    async def _watch_silence(self, listener: AgentListener) -> None:
        idle_s = self._settings.idle_s
        if idle_s <= 0:
            return
        await silent_for(idle_s, lambda: listener.last_at, lambda: self._steps.family(self._order.attempt))
        self._was_silent = True
        self._stop(f"silent for {_length(idle_s)}")

    def _stop(self, why: str) -> None:
        if self._process is not None and not self._stopped_by:
            self._stopped_by = why
            self._process.cancel()

    def _heard(self, event: AgentEvent, tally: AgentTally) -> None:
        if isinstance(event, Does | Says) and not self._has_shown:  # its model has answered
            self._has_shown = True
            self._showed(self._order.attempt)
        match event:
            case AgentSession(id):
                self.began = True
                before = self._resumed
                tokens = (before.tokens_in, before.tokens_out) if before is not None else (0, 0)
                keep_session(KeptSession(id, self._adapter.name, self._place, *tokens), self._directory)
            case Does():
                self.began = True
                self._doings += 1
            case Says():
                self.began = self.began or not self._adapter.resumes
        limits = self._settings.limits
        if limits.tokens is not None and tally.used.tokens_in + tally.used.tokens_out > limits.tokens:
            self._stop(f"reached its limit of {limits.tokens:,} tokens")
        if limits.cost is not None and tally.used.cost is not None and tally.used.cost > limits.cost:
            self._stop(f"reached its limit of {limits.cost:g} in cost")
        if limits.turns is not None and self._doings > limits.turns:
            self._stop(f"reached its limit of {limits.turns} turns")

    def _ending(self, process: Ending, tally: AgentTally) -> Ending:
        self.denied = tally.denied
        self._take_off_earlier(tally)
        if self._stopped_by and process.kind is not EndingKind.DONE:
            ending = tally.ending(replace(process, kind=EndingKind.CANCELLED), time.time(), self._zone)
            kind = EndingKind.TIMED_OUT if self._was_silent else EndingKind.FAILED
            return replace(ending, kind=kind, detail=self._stopped_by, permanent=not self._was_silent)
        ending = tally.ending(process, time.time(), self._zone)
        if tally.closed is None and not self.began and _is_failure(ending) and ending.exit_code:
            return self._never_began(ending)
        return ending

    def _never_began(self, ending: Ending) -> Ending:
        """Until the agent has done something, its standard error comes from itself and not from a tool."""
        errors = tail_of(self._directory / ERRORS_FILE)
        with suppress(OSError), open(open_plain(self._directory / LOG_FILE, os.O_WRONLY | os.O_APPEND), "ab") as log:
            log.write(errors.encode(errors="replace"))
        tally = AgentTally()
        tally.note(Closed(refusal(errors, time.time(), zone=self._zone)))
        told = tally.ending(ending, time.time(), self._zone)
        says = last_line(errors)
        return replace(told, detail=one_line(f"exit {ending.exit_code}: {says}" if says else ending.detail))

    def _take_off_earlier(self, tally: AgentTally) -> None:
        """Some programs include the earlier runs that this one resumed. Those were counted already."""
        used, before = tally.used, self._resumed
        if used.of_session and tally.session:
            total = KeptSession(tally.session, self._adapter.name, self._place, used.tokens_in, used.tokens_out)
            keep_session(total, self._directory)
        if used.of_session and before is not None and before.id == tally.session:
            tally.used = replace(
                used,
                tokens_in=max(0, used.tokens_in - before.tokens_in),
                tokens_out=max(0, used.tokens_out - before.tokens_out),
            )

    def _moment(self) -> LineMoment:
        return LineMoment(time.time(), self._zone)


def _zone(name: str | None) -> datetime.tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _length(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
