"""How agents are driven: as programs that print, or over a protocol. The executor treats both alike."""

from pathlib import Path
from typing import Protocol

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending
from manyhands.hosts.agents.adapter import Advice
from manyhands.hosts.agents.agent_sessions import KeptSession
from manyhands.hosts.agents.agent_watch import AgentWatch


class AgentRun(Protocol):
    """One run of an agent for an attempt."""

    watch: AgentWatch

    async def carry_out(self, resumed: KeptSession | None) -> Ending:
        """Run it to its end. Cancelled, it ends the run and says so in the ending."""
        ...


class AgentDriver(Protocol):
    advice: Advice
    name: str  # of the agent whose conversations these are
    resumes: bool
    same_directory: bool  # resumes only where it began

    def run(self, order: StartAttempt, directory: Path, place: str) -> AgentRun: ...

    def release(self, attempt: int) -> None: ...

    async def close(self) -> None:
        """Nothing is in flight any more: release all resources."""
        ...
