"""One process that speaks ACP, with one session for each attempt in it."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection
from acp.meta import AGENT_METHODS, CLIENT_METHODS

from manyhands.hosts.agents.acp_wire import AcpWire
from manyhands.hosts.agents.refusal_texts import table, text_of
from manyhands.hosts.executors.output_text import tail_of
from manyhands.hosts.executors.process import Exit, ProcessGroup

#: How long a process may take to leave once its input has ended, before it is killed. Nothing is left to save then.
_LEAVES_WITHIN_S = 1.0
#: In the temporary directory of a shared process: its standard error, which is nobody's alone.
ERRORS_OF_ALL = "stderr"
#: Nobody answers the question.
CANCELLED: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}


class SessionEar(Protocol):
    """Hears what a session says."""

    def updated(self, params: dict[str, Any]) -> None: ...

    async def asked(self, params: dict[str, Any]) -> dict[str, Any]:
        """Whether it may do something; gives the answer."""
        ...


class AcpProcess:
    def __init__(self, make: Callable[[AcpWire], ProcessGroup], temporary: Path) -> None:
        """`make` makes the process, held at its gate. It owns the temporary directory, and removes it at its end."""
        self.temporary = temporary
        self.attempts: dict[int, Path] = {}  # that have it now, with where they work
        self.opened = 0  # sessions so far
        self.last_errors = ""  # of a shared one that has ended
        self.is_stuck = False  # does not do as it is told: has to go, whoever is in it
        self._is_released = False
        self._wire = AcpWire(temporary / "in")
        try:
            self.group = make(self._wire)
        except BaseException:
            self._wire.hang_up()
            raise
        self._ears: dict[str, SessionEar] = {}
        self._connection = Connection(self._handle, self._wire)
        self._greeting: asyncio.Task[dict[str, Any]] | None = None
        self._watch = asyncio.create_task(self._hang_up_when_gone())
        self._ended: asyncio.Task[Exit] | None = None

    def release(self) -> None:
        self._is_released = True
        self.group.release()

    async def open(self, place: str, resumed: str = "") -> str:
        """The id of a new session that works in `place`, or of one that is resumed there. Raises RequestError."""
        capabilities = table((await self._greeted()).get("agentCapabilities"))
        where: dict[str, Any] = {"cwd": place, "mcpServers": []}
        self.opened += 1
        if not resumed:
            made = table(await self._request("session_new", where))
            return text_of(made.get("sessionId"))
        method = "session_resume" if "resume" in table(capabilities.get("sessionCapabilities")) else "session_load"
        try:
            await self._request(method, {**where, "sessionId": resumed})
        except RequestError:
            # Some offer the one and only know the other.
            if method == "session_load" or not capabilities.get("loadSession"):
                raise
            await self._request("session_load", {**where, "sessionId": resumed})
        return resumed

    async def prompt(self, session: str, text: str, ear: SessionEar) -> dict[str, Any]:
        """What the agent answers to the prompt at the end of its turn. Raises RequestError, or ConnectionError."""
        self._ears[session] = ear
        try:
            content = [{"type": "text", "text": text}]
            return table(await self._request("session_prompt", {"sessionId": session, "prompt": content}))
        finally:
            self._ears.pop(session, None)

    async def cancel(self, session: str) -> None:
        """Ask the session to stop; its prompt is answered then."""
        await self._connection.send_notification(AGENT_METHODS["session_cancel"], {"sessionId": session})

    async def close_session(self, session: str) -> None:
        capabilities = table((await self._greeted()).get("agentCapabilities"))
        if "close" in table(capabilities.get("sessionCapabilities")):
            await self._request("session_close", {"sessionId": session})

    async def end(self) -> Exit:
        """End it with all that it started. May be cancelled and called again."""
        if self._ended is None:
            self._ended = asyncio.create_task(self._end())
        return await asyncio.shield(self._ended)

    async def _end(self) -> Exit:
        self._wire.hang_up()
        try:
            async with asyncio.timeout(_LEAVES_WITHIN_S if self._is_released else 0):
                await self.group.leader_gone()
        except TimeoutError:
            self.group.stop()
            self.group.stop()  # at once: the programs ignore SIGTERM, or leave their tools behind on it
        exit, _ = await self.group.run_out()
        self._watch.cancel()
        await self._connection.close()
        self.last_errors = tail_of(self.temporary / ERRORS_OF_ALL)
        shutil.rmtree(self.temporary, ignore_errors=True)
        return exit

    @property
    def is_greeted(self) -> bool:
        return self._greeting is not None and self._greeting.done()

    async def _greeted(self) -> dict[str, Any]:
        if self._greeting is None:
            self._greeting = asyncio.create_task(self._greet())
        return await asyncio.shield(self._greeting)

    async def _greet(self) -> dict[str, Any]:
        offers = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        hello = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": offers,
            "clientInfo": {"name": "manyhands", "version": "1"},
        }
        return table(await self._request("initialize", hello))

    async def _request(self, method: str, params: dict[str, Any]) -> Any:
        return await self._connection.send_request(AGENT_METHODS[method], params)

    async def _handle(self, method: str, params: Any, is_notification: bool) -> Any:
        fields = table(params)
        ear = self._ears.get(text_of(fields.get("sessionId")))
        if method == CLIENT_METHODS["session_update"]:
            if ear is not None:
                ear.updated(fields)
            return None
        if method == CLIENT_METHODS["session_request_permission"]:
            return CANCELLED if ear is None else await ear.asked(fields)
        if is_notification:
            return None
        raise RequestError.method_not_found(method)

    async def _hang_up_when_gone(self) -> None:
        await self.group.leader_gone()
        self._wire.hang_up()
