"""The stage on which attempts of agents are tried out."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hosts.agents.agent_stage import AgentStage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[AgentStage]:
    stage = AgentStage(tmp_path)
    yield stage
    for desk in stage.desks:
        await desk.executor.close()
        assert desk.alive() == []
