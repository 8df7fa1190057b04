"""One attempt over ACP: it joins a process, opens a session there, and takes one turn."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from acp import RequestError
from msgspec.structs import replace

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import DONE, Ending, EndingKind
from manyhands.core.values.question import Question
from manyhands.hosts.agents.acp_permissions import REJECT, AcpPermissions
from manyhands.hosts.agents.acp_pool import AcpPool
from manyhands.hosts.agents.acp_process import CANCELLED, AcpProcess
from manyhands.hosts.agents.acp_reading import AcpReading
from manyhands.hosts.agents.agent_events import AgentEvent, AgentSession, Denied
from manyhands.hosts.agents.agent_files import ERRORS_FILE, PROMPT_FILE, SAYING_FILE
from manyhands.hosts.agents.agent_record import AgentRecord
from manyhands.hosts.agents.agent_sessions import KeptSession, keep_session
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_watch import AgentWatch
from manyhands.hosts.agents.confinement import claimed_places
from manyhands.hosts.agents.refusal_texts import table
from manyhands.hosts.agents.resuming import what_to_do, what_to_say
from manyhands.hosts.agents.silence import silent_for
from manyhands.hosts.executors import process_table
from manyhands.hosts.executors.attempt_steps import CannotStart, ending_of
from manyhands.hosts.executors.in_flight import STOPPED
from manyhands.hosts.executors.output_text import last_line, tail_of
from manyhands.hosts.executors.process import Exit
from manyhands.hosts.executors.process_source import Process
from manyhands.readers.plain_file import write_plain

T = TypeVar("T")
#: Its process died while it had its turn: how that ended, its exit says.
_DIED = Ending(EndingKind.LOST, "its process died")


class AcpRun:
    def __init__(
        self,
        settings: AgentSettings,
        pool: AcpPool,
        pass_gate: Callable[[int, AcpProcess], Awaitable[None]],
        watch: AgentWatch,
        order: StartAttempt,
        directory: Path,
        place: Path,
    ) -> None:
        """`pass_gate` waits until the process is on record for the attempt."""
        self.watch = watch
        self._settings = settings
        self._pool = pool
        self._pass_gate = pass_gate
        self._order = order
        self._directory = directory
        self._place = place
        self._record = AgentRecord(directory, watch.heard)
        self._reading = AcpReading()
        self._permissions = AcpPermissions(place, (), settings.permissions)
        self._process: AcpProcess | None = None
        self._shared = False
        self._session = ""
        self._turn: asyncio.Task[Ending] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[str | None]] = set()

    async def carry_out(self, resumed: KeptSession | None) -> Ending:
        self.watch.resumed = resumed
        self.watch.end = self._stop
        self.watch.remark = self._record.remark
        self._reading = AcpReading(resumed.cost if resumed is not None else 0.0)
        self._turn = asyncio.create_task(self._take_turn(resumed))
        silence = asyncio.create_task(self._watch_silence())
        exit: Exit | None = None
        try:
            ending = await self._to_the_end(self._turn)
        finally:
            silence.cancel()
            self._stop_asking()
            exit = await self._to_the_end(asyncio.create_task(self._leave()))
            self._record.close()
            self.watch.close()
        if ending is _DIED and exit is not None:
            ending = self._death(exit)
        if self._stopping is not None:
            ending = STOPPED
        if exit is not None and not self._shared:
            ending = replace(ending, memory_bytes=exit.memory_bytes)
        return self.watch.ending(ending, self._record.tally)

    def updated(self, params: dict[str, Any]) -> None:
        self._keep("update", params)
        self._tell(self._reading.update(table(params.get("update"))))

    async def asked(self, params: dict[str, Any]) -> dict[str, Any]:
        self._keep("request_permission", params)
        self._tell(self._reading.tool_call(table(params.get("toolCall"))))
        if self._stopping is not None:
            return CANCELLED
        answer, denied = self._permissions.answer(params)
        question = self._permissions.question(params)
        if question is not None and not denied:
            answer, denied = await self._ask(params, question)
        self._keep("answer", answer)
        self._tell([Denied(denied)] if denied else [])
        return answer

    async def _ask(self, params: dict[str, Any], question: Question) -> tuple[dict[str, Any], str]:
        """The answer of a person, and what nobody could allow. Once the turn is over there is none."""
        asking = asyncio.create_task(self.watch.ask(question))
        self._asking.add(asking)
        try:
            await asyncio.wait({asking})
        finally:
            self._asking.discard(asking)
            asking.cancel()
        if asking.cancelled():
            return CANCELLED, ""
        words = asking.result()
        if words is None:
            return self._permissions.chosen(params, REJECT), "more questions than a person is asked"
        self._record.remark(f"a person answered `{words}`: {question.text}")
        return self._permissions.chosen(params, words), ""

    def _stop_asking(self) -> None:
        for asking in self._asking:
            asking.cancel()

    async def _take_turn(self, resumed: KeptSession | None) -> Ending:
        reading, moment = self._reading, self.watch.moment
        file = self._directory / (PROMPT_FILE if resumed is None else SAYING_FILE)
        try:
            process = self._join()
            # A process that several attempts share has none of the variables that are about one of them.
            fresh = what_to_do(self._order, has_means=not self._shared) if resumed is None else ""
            prompt = fresh or what_to_say(self._order)
            write_plain(file, prompt.encode(errors="replace"))
            await self._pass_gate(self._order.attempt, process)
            session = await process.open(str(self._place), resumed.id if resumed is not None else "")
            self._session = session
            self._tell([AgentSession(session)])
            answer = await process.prompt(session, _plain(prompt), self)
            self._keep("answered", answer)
            self._tell(reading.answered(answer, moment()))
        except CannotStart as refused:
            return refused.ending
        except RequestError as error:
            self._keep("error", {"code": error.code, "message": str(error), "data": error.data})
            if resumed is not None and not self._session:
                return Ending(EndingKind.FAILED, f"session {resumed.id} cannot be resumed: {error}")
            self._tell([reading.refused(error.code, str(error), error.data, moment())])
        except ConnectionError:
            return _DIED
        except asyncio.CancelledError:
            return STOPPED
        return DONE

    def _join(self) -> AcpProcess:
        process, self._shared = self._pool.join(self._order, self._directory, self._place, self._record.errors)
        self._process = process
        own = [self._directory, process.temporary]
        match self._settings.confine:
            case "off":
                writable = None
            case "workspace":
                writable = [self._place, *own]
            case "claims":
                writable = [*claimed_places(self._order.task, self._place), *own]
        self._permissions = AcpPermissions(self._place, writable, self._settings.permissions)
        return process

    async def _leave(self) -> Exit | None:
        process = self._process
        if process is None:
            return None
        if self._shared and self._session and process.group.is_alive and not process.is_stuck:
            with suppress(RequestError, ConnectionError, TimeoutError):
                async with asyncio.timeout(self._settings.grace_s):
                    await process.close_session(self._session)
            await self._end_tools(process)
        if self._session and self._reading.session_cost:
            kept = KeptSession(self._session, self.watch.agent, str(self._place), cost=self._reading.session_cost)
            keep_session(kept, self._directory)
        return await self._pool.leave(self._order.attempt, process, shared=self._shared)

    async def _end_tools(self, process: AcpProcess) -> None:
        """What its tools left running, where it is certain whose they are: those in a place of its own."""
        attempt = self._order.attempt
        others = [place for other, place in process.attempts.items() if other != attempt]
        if any(other.is_relative_to(self._place) or self._place.is_relative_to(other) for other in others):
            return
        if self._place == self._settings.workspace.absolute():
            return  # so may those of the program itself
        for one in await process.group.family():
            if one.pid != process.group.handle.pid and _works_in(one, self._place):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one.pid, signal.SIGKILL)

    def _death(self, exit: Exit) -> Ending:
        if not self._shared:
            return ending_of(exit, tail_of(self._directory / ERRORS_FILE), stopped=False)
        says = last_line(self._process.last_errors) if self._process is not None else ""
        ending = ending_of(exit, says, stopped=False)
        detail = f"the process that it shared with others died ({ending.detail or 'exit 0'})"
        return Ending(EndingKind.LOST, detail)

    async def _watch_silence(self) -> None:
        if self._settings.idle_s <= 0:
            return
        watch, reading = self.watch, self._reading
        await silent_for(
            lambda: watch.may_be_silent_s(reading.runs_tool),
            lambda: time.monotonic() if watch.is_asking else self._record.last_at,
            self._computing,
            watch.saw_life,
        )
        watch.was_silent(self._record.tally, reading.runs_tool)

    async def _computing(self) -> list[Process]:
        """The processes whose work is a sign of life: with others in the same process only while it runs a tool."""
        if self._process is None or (self._shared and not self._reading.runs_tool):
            return []
        return await self._process.group.family()

    async def _to_the_end(self, work: "asyncio.Task[T]") -> T:
        """What it returns; being cancelled meanwhile means stop."""
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError:
                self._stop()
        return work.result()

    def _stop(self) -> None:
        if self._stopping is None:
            self._stop_asking()
            self._stopping = asyncio.create_task(self._end_turn())

    async def _end_turn(self) -> None:
        turn, process = self._turn, self._process
        assert turn is not None
        if process is not None and self._session:
            with suppress(ConnectionError):
                await process.cancel(self._session)
            await asyncio.wait({turn}, timeout=self._settings.grace_s)
        if not turn.done():
            if process is not None:
                process.is_stuck = bool(self._session) or not process.is_greeted
            turn.cancel()

    def _tell(self, events: list[AgentEvent]) -> None:
        self._record.tell(events)

    def _keep(self, what: str, content: dict[str, Any]) -> None:
        self._record.keep(json.dumps({what: content}).encode() + b"\n")


def _plain(prompt: str) -> str:
    """A prompt, and not a command of the program: those begin with a slash."""
    return f"Task:\n\n{prompt}" if prompt.lstrip().startswith("/") else prompt


def _works_in(process: Process, place: Path) -> bool:
    directory = process_table.directory(process.pid)
    return directory is not None and directory.is_relative_to(place)
