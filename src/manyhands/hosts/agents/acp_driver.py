"""Agents that speak the Agent Client Protocol: each attempt is one session, alone in a process or with others."""

import asyncio
from pathlib import Path

from manyhands.core.commands import StartAttempt
from manyhands.hosts.agents.acp_pool import AcpPool
from manyhands.hosts.agents.acp_process import AcpProcess
from manyhands.hosts.agents.acp_run import AcpRun
from manyhands.hosts.agents.adapter import Advice
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.agent_watch import AgentCalls, AgentWatch
from manyhands.hosts.executors.executor import ProcessSpawned
from manyhands.hosts.executors.process_table import Census


class AcpDriver:
    advice = Advice(denied='`confine = "off"` of its host allows it to write anywhere')
    resumes = True
    same_directory = True  # elsewhere some begin with nothing, or work in the old place, without a word

    def __init__(self, settings: AgentSettings, census: Census, spawned: ProcessSpawned, calls: AgentCalls) -> None:
        self.name = f"acp {Path(settings.run[0]).name}"
        self._settings = settings
        self._spawned = spawned
        self._calls = calls
        self._pool = AcpPool(settings, census)
        self._released: dict[int, asyncio.Event] = {}

    def run(self, order: StartAttempt, directory: Path, place: str) -> AcpRun:
        watch = AgentWatch(self._settings, order, directory, place, self._calls, agent=self.name, resumes=self.resumes)
        return AcpRun(self._settings, self._pool, self._pass_gate, watch, order, directory, Path(place))

    def release(self, attempt: int) -> None:
        if attempt in self._released:
            self._released[attempt].set()

    async def close(self) -> None:
        await self._pool.close()

    async def _pass_gate(self, attempt: int, process: AcpProcess) -> None:
        """Return once the process is on record for the attempt."""
        self._released[attempt] = asyncio.Event()
        try:
            self._spawned(attempt, process.group.handle)
            await self._released[attempt].wait()
        finally:
            del self._released[attempt]
        process.release()
