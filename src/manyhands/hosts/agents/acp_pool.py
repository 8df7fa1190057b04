"""Which attempts share which process: each new one joins where there is room, or gets a process of its own."""

import asyncio
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import EndingKind
from manyhands.hosts.agents.acp_making import AcpMaking
from manyhands.hosts.agents.acp_process import AcpProcess
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.executors.process import Exit
from manyhands.hosts.executors.process_table import Census

#: A process that has had so many sessions gets no more: what programs leak, they leak by the session.
_SESSIONS_OF_PROCESS_MAX = 40
#: How long a shared process without attempts is kept for the next one. Starting one costs seconds of CPU.
_KEPT_S = 5.0

#: Attempts with the same environment that write below the same directory.
_Likeness = tuple[Path, frozenset[tuple[str, str]]]


class AcpPool:
    def __init__(self, settings: AgentSettings, census: Census) -> None:
        self._settings = settings
        self._making = AcpMaking(settings, census)
        self._shared: dict[_Likeness, list[AcpProcess]] = {}
        self._keeping: dict[AcpProcess, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[Exit]] = set()

    def join(self, order: StartAttempt, directory: Path, place: Path, errors: int) -> tuple[AcpProcess, bool]:
        """A process for the attempt, and whether others may have it too. Raises CannotStart."""
        # After its process has died, an attempt gets one of its own: whichever kills it, kills only its own again.
        if self._settings.sessions == 1 or (order.last is not None and order.last.kind is EndingKind.LOST):
            process = self._making.alone(order, directory, place, errors)
            process.attempts[order.attempt] = place
            return process, False
        root = self._settings.workspace.absolute()
        like = (root if place.is_relative_to(root) else place, frozenset((order.task.env or {}).items()))
        fellows = self._shared.setdefault(like, [])
        if not any(self._has_room(one) for one in fellows):
            fellows.append(self._making.shared(order, like[0], place))
        process = next(one for one in fellows if self._has_room(one))
        if kept := self._keeping.pop(process, None):
            kept.cancel()
        process.attempts[order.attempt] = place
        return process, True

    async def leave(self, attempt: int, process: AcpProcess, *, shared: bool) -> Exit | None:
        """The attempt needs its process no more. How it ended, if it has."""
        process.attempts.pop(attempt, None)
        is_worn = process.opened >= _SESSIONS_OF_PROCESS_MAX
        if not shared or process.is_stuck or not process.group.is_alive or (is_worn and not process.attempts):
            self._forget(process)
            return await process.end()
        if not process.attempts:
            self._keeping[process] = asyncio.create_task(self._keep_a_while(process))
        return None

    async def close(self) -> None:
        idle = [process for fellows in self._shared.values() for process in fellows]
        for process in idle:
            self._forget(process)
        await asyncio.gather(*(process.end() for process in idle), *self._ending)

    def _has_room(self, process: AcpProcess) -> bool:
        return (
            len(process.attempts) < self._settings.sessions
            and process.opened + len(process.attempts) < _SESSIONS_OF_PROCESS_MAX
            and process.group.is_alive
            and not process.is_stuck
        )

    async def _keep_a_while(self, process: AcpProcess) -> None:
        await asyncio.sleep(_KEPT_S)
        del self._keeping[process]
        self._forget(process)
        ending = asyncio.create_task(process.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _forget(self, process: AcpProcess) -> None:
        if kept := self._keeping.pop(process, None):
            kept.cancel()
        for fellows in self._shared.values():
            if process in fellows:
                fellows.remove(process)
