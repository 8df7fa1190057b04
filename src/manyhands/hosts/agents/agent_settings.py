"""What an agent host is built from."""

from pathlib import Path

from manyhands.hosts.agents.confinement import Confine
from manyhands.hosts.executors.attempt_steps import ProcessSettings
from manyhands.sources.config.agent_config import AgentLimits, Permissions


class AgentSettings(ProcessSettings, frozen=True, kw_only=True):
    agent: str  # a known one, or "" with `run` and `reads`
    run: tuple[str, ...] = ()  # the program and its first arguments
    reads: str = ""
    model: str = ""
    args: tuple[str, ...] = ()
    idle_s: float = 900.0
    limits: AgentLimits = AgentLimits()
    confine: Confine = "workspace"
    hide: tuple[str, ...] = ()  # from reading
    homes: Path | None = None  # where each attempt gets a home of its own; None: all have the person's
    permissions: Permissions = "allow"
    sessions: int = 1  # of attempts that share one process, where it speaks ACP
